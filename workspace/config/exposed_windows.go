package config

// exposed says nothing here: a user's folders are closed to others by their own lists.
func exposed(string) []Problem { return nil }
