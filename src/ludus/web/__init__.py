"""The board in the browser: a server of pages, HTTP and WebSockets on the library's sessions, analyses and runs."""
