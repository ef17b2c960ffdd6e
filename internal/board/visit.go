package board

// Visit is what a board is to a person.
type Visit struct {
	Starred bool
	SeenAt  *Instant // when the person last had it open; nil for never

	Collapsed []string // its lists that the person has collapsed
	Watching  bool     // whether the person is told of what changes there
}
