"""Decision trees and ensembles of them, cut down to the words of a document."""
