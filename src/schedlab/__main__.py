"""`python -m schedlab`: the command line."""

from schedlab.cli.start import main

if __name__ == "__main__":
    main()
