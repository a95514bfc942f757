"""The paper's study, figure by figure: what `rfdag reproduce` runs, draws and writes."""
