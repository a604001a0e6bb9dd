"""The functions and classes that `import ludus` offers."""
