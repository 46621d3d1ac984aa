"""Changes the code on purpose, one small change at a time, to see which changes no test notices."""
