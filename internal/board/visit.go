package board

// Visit holds the state of a board that is specific to one person.
type Visit struct {
	Starred bool
	SeenAt  *Instant // when the person last opened the board; nil for never

	Collapsed []string // the lists that the person has collapsed
	Watching  bool     // whether the person watches the board
}
