from schedlab.files.bytestream import *  # noqa
from schedlab.files.bytestream import ByteStream, Progress, first_text  # noqa
