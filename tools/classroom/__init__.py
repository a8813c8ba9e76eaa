"""The other faces of the notebooks: decks, explorers alone, students' and instructor's folders, one's own copy."""
