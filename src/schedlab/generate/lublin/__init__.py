"""The model of Lublin and Feitelson."""
