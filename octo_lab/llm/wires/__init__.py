"""Wire formats: how a dialect writes a request and reads the answer, one package each."""
