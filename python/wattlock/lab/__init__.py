"""A web server for a team: it takes sealed runs, keeps them, shows and compares them.

The run folders are the truth; the database is an index of them that can be made again at any time.
"""
