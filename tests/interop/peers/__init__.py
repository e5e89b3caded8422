"""The servers that are started, and how all that is needed gets on the machine."""
