"""Plain scripts: errors explained on stderr, and programs run as Python runs them, recorded."""
