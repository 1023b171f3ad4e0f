"""The experiments of "A Sea of Words" (Lopardo, Precioso, Garreau, AISTATS 2023), done with kedge alone.

One module per table or figure, all in the one setting of ``setting.py``; ``kedge reproduce`` runs them.
"""
