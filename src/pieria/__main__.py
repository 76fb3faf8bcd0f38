"""`python -m pieria` is the command `pieria`, for where only the interpreter is known."""

from pieria.doors.cli import main

if __name__ == "__main__":
    main()
