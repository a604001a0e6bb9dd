"""What `import ludus` offers: operations and objects that front ends render. Each module is loaded when it is used."""
