"""What results say of bots, and how surely."""
