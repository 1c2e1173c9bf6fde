"""The Model Context Protocol: memory as five tools, over stdio and streamable HTTP."""
