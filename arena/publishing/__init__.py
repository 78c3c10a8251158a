"""What is told of a tournament to anybody: exported folders, and their check from the seed up."""
