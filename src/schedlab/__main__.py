"""`python -m schedlab`: the command line."""

from schedlab.cli.main import main

if __name__ == "__main__":
    main()
