package board

// ImportReport describes the result of an import. Its texts are single lines without
// control characters, whatever the file contains.
type ImportReport struct {
	Boards       []ImportedBoard `json:"boards" doc:"The boards that the import made."`
	SavedFilters int             `json:"savedFilters" doc:"How many saved filters it made, over all boards." example:"2"`
	Notes        []ImportNote    `json:"notes" doc:"What was skipped or changed."`
}

// ImportedBoard is a board that an import made.
type ImportedBoard struct {
	ID   string `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string `json:"name" doc:"Its name." example:"Launch in May"`
	ImportCounts
}

// ImportCounts holds the number of records that an import made.
type ImportCounts struct {
	Lists         int `json:"lists" doc:"How many lists." example:"4"`
	Cards         int `json:"cards" doc:"How many cards." example:"120"`
	Labels        int `json:"labels" doc:"How many labels." example:"6"`
	Checklists    int `json:"checklists" doc:"How many checklists." example:"12"`
	Items         int `json:"items" doc:"How many checklist items." example:"80"`
	Comments      int `json:"comments" doc:"How many comments." example:"300"`
	StatusUpdates int `json:"statusUpdates" doc:"How many status updates." example:"3"`
}

// Add adds the numbers of o.
func (c *ImportCounts) Add(o ImportCounts) {
	c.Lists += o.Lists
	c.Cards += o.Cards
	c.Labels += o.Labels
	c.Checklists += o.Checklists
	c.Items += o.Items
	c.Comments += o.Comments
	c.StatusUpdates += o.StatusUpdates
}

// ImportNote is something that was skipped or changed during an import.
type ImportNote struct {
	What     string   `json:"what" doc:"What it was." example:"Attachments left out"`
	Count    int      `json:"count" doc:"How many there were." example:"7"`
	Examples []string `json:"examples" doc:"Up to three of them."`
	More     bool     `json:"-"` // there are other examples
}
