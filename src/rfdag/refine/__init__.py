"""Polishing an order by its Gaussian BIC."""
