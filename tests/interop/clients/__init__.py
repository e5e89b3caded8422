"""The clients that are run against the broker, and our own."""
