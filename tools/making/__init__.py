"""What make.py is made of. Only the standard library, and no syntax newer than Python 3.6:
an old Python must be able to read these files, at least as far as the message that says it is too old.
"""
