package board

// ImportReport describes the result of an import. Each string is a single line
// without control characters, even if the file contains them.
type ImportReport struct {
	Boards       []ImportedBoard `json:"boards" doc:"The boards that the import created."`
	SavedFilters int             `json:"savedFilters" doc:"The number of saved filters that the import created, across all boards." example:"2"`
	Notes        []ImportNote    `json:"notes" doc:"What the import skipped or changed."`
}

// ImportedBoard is a board that an import created.
type ImportedBoard struct {
	ID   string `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string `json:"name" doc:"The board's name." example:"Launch in May"`
	ImportCounts
}

// ImportCounts holds the numbers of records that an import created.
type ImportCounts struct {
	Lists         int `json:"lists" doc:"The number of lists that the import created." example:"4"`
	Cards         int `json:"cards" doc:"The number of cards that the import created." example:"120"`
	Labels        int `json:"labels" doc:"The number of labels that the import created." example:"6"`
	Checklists    int `json:"checklists" doc:"The number of checklists that the import created." example:"12"`
	Items         int `json:"items" doc:"The number of checklist items that the import created." example:"80"`
	Comments      int `json:"comments" doc:"The number of comments that the import created." example:"300"`
	StatusUpdates int `json:"statusUpdates" doc:"The number of status updates that the import created." example:"3"`
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

// ImportNote describes records that were skipped or changed during an import.
type ImportNote struct {
	What     string   `json:"what" doc:"What was skipped or changed." example:"Attachments left out"`
	Count    int      `json:"count" doc:"The number of affected records." example:"7"`
	Examples []string `json:"examples" doc:"Up to three affected records."`
	More     bool     `json:"-"` // whether there are further examples
}
