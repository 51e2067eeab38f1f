from schedlab.files.whole_file import whole_file  # noqa
