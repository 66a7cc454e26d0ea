"""One kernel library for every array library that follows the array API standard."""
