package board

// TemplateVersion is the version of TemplateContent that this program writes. The
// program can read this version and all earlier ones.
const TemplateVersion = 1

// BoardTemplate is a template for new boards as it appears in a list of templates.
type BoardTemplate struct {
	ID          string          `json:"id" doc:"The template's id." example:"tpl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID *string         `json:"workspaceId" doc:"The id of the workspace that the template belongs to; null for a built-in template." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BuiltIn     bool            `json:"builtIn" doc:"Whether the template is built in." example:"false"`
	Name        string          `json:"name" doc:"The template's name." example:"Product launch"`
	Description string          `json:"description" doc:"The template's description, in Markdown." example:"Everything from the first idea to the day after."`
	Features    Features        `json:"features" doc:"The features of a board created from the template."`
	Labels      []TemplateLabel `json:"labels" doc:"The labels of a board created from the template."`
	Lists       []TemplateList  `json:"lists" doc:"The lists of a board created from the template, in order."`
	Cards       int             `json:"cards" doc:"The number of cards on a board created from the template." example:"8"`
	CreatedAt   *Instant        `json:"createdAt" format:"date-time" doc:"When the template was saved; null for a built-in template." example:"2026-03-01T09:00:00.000Z"`
}

// TemplateLabel is a label of a template.
type TemplateLabel struct {
	Name  string `json:"name" doc:"The label's name; empty if the label has only a color." example:"Bug"`
	Color Color  `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The label's color." example:"red"`
}

// TemplateList is a list of a template.
type TemplateList struct {
	Name     string  `json:"name" doc:"The list's name." example:"In progress"`
	WIPLimit *int    `json:"wipLimit" doc:"The WIP limit: the maximum number of cards that the list should hold, not counting archived ones; null if there is no limit." example:"5"`
	WIPMode  WIPMode `json:"wipMode" enum:"soft,hard" doc:"What happens at the WIP limit." example:"soft"`
	Cards    int     `json:"cards" doc:"The number of cards that the list starts with." example:"3"`
}

// BoardTemplatePreview is a template with the first cards of its lists.
type BoardTemplatePreview struct {
	BoardTemplate
	First [][]TemplatePreviewCard `json:"first" doc:"For each list, its first cards, at most 20."`
}

// TemplatePreviewCard is a card in the preview of a template.
type TemplatePreviewCard struct {
	Title  string `json:"title" doc:"The card's title." example:"Order cabinets"`
	Labels []int  `json:"labels" doc:"The card's labels, as indexes into the template's labels." example:"[0]"`
	Items  int    `json:"items" doc:"The number of items in the card's checklists." example:"3"`
}

// previewCards is the maximum number of cards per list in a preview.
const previewCards = 20

// Preview returns the preview that a page shows before a board is created from
// the template.
func (c TemplateContent) Preview(t BoardTemplate) BoardTemplatePreview {
	p := BoardTemplatePreview{BoardTemplate: t, First: make([][]TemplatePreviewCard, len(c.Lists))}
	for i, l := range c.Lists {
		p.First[i] = []TemplatePreviewCard{}
		for _, card := range l.Cards[:min(len(l.Cards), previewCards)] {
			shown := TemplatePreviewCard{Title: card.Title, Labels: card.Labels}
			for _, k := range card.Checklists {
				shown.Items += len(k.Items)
			}
			p.First[i] = append(p.First[i], shown)
		}
	}
	return p
}

// TemplateContent is the content of a board that is created from a template. It
// contains no people and no dates.
type TemplateContent struct {
	Version  int                   `json:"version"`
	Features Features              `json:"features"`
	Labels   []TemplateLabel       `json:"labels"`
	Lists    []TemplateListContent `json:"lists"`
}

// TemplateListContent is a list of a template with its cards.
type TemplateListContent struct {
	Name     string         `json:"name"`
	WIPLimit *int           `json:"wipLimit"`
	WIPMode  WIPMode        `json:"wipMode"`
	Cards    []TemplateCard `json:"cards"`
}

// TemplateCard is a card of a template. Labels holds indexes into the
// template's labels.
type TemplateCard struct {
	Title       string              `json:"title"`
	Description string              `json:"description"`
	Labels      []int               `json:"labels"`
	Checklists  []TemplateChecklist `json:"checklists"`
}

// TemplateChecklist is a checklist of a template's card.
type TemplateChecklist struct {
	Title string   `json:"title"`
	Items []string `json:"items"`
}

// Outline returns c as a BoardTemplate without an id, name or description.
func (c TemplateContent) Outline() (t BoardTemplate) {
	t.Features, t.Labels, t.Lists = c.Features, c.Labels, make([]TemplateList, len(c.Lists))
	for i, l := range c.Lists {
		t.Lists[i] = TemplateList{Name: l.Name, WIPLimit: l.WIPLimit, WIPMode: l.WIPMode, Cards: len(l.Cards)}
		t.Cards += len(l.Cards)
	}
	return t
}

// BuiltIn is a template that comes with the program. Its id never changes.
type BuiltIn struct {
	ID          string
	Name        string
	Description string
	Content     TemplateContent
}

// Template returns b as a BoardTemplate.
func (b BuiltIn) Template() BoardTemplate {
	t := b.Content.Outline()
	t.ID, t.Name, t.Description, t.BuiltIn = b.ID, b.Name, b.Description, true
	return t
}

// BuiltInTemplates returns the templates that come with the program, sorted by
// id. Their ids sort before those of all others.
func BuiltInTemplates() []BuiltIn {
	return []BuiltIn{
		kanbanTemplate(), sprintTemplate(), bugTemplate(), editorialTemplate(), roadmapTemplate(),
		hiringTemplate(), eventTemplate(), onboardingTemplate(), personalTemplate(), incidentTemplate(),
	}
}

// builtIn returns a built-in template of the current version, with the features
// of a new board.
func builtIn(id, name, description string, labels []TemplateLabel, lists ...TemplateListContent) BuiltIn {
	return BuiltIn{ID: id, Name: name, Description: description, Content: TemplateContent{
		Version: TemplateVersion, Features: NewBoardFeatures(), Labels: labels, Lists: lists,
	}}
}

// newList returns a list without a WIP limit.
func newList(name string, cards ...TemplateCard) TemplateListContent {
	if cards == nil {
		cards = []TemplateCard{}
	}
	return TemplateListContent{Name: name, WIPMode: WIPSoft, Cards: cards}
}

// limited returns a list with a soft WIP limit.
func limited(name string, limit int, cards ...TemplateCard) TemplateListContent {
	c := newList(name, cards...)
	c.WIPLimit = &limit
	return c
}

// start returns a card that a new board starts with. Its labels are indexes into the
// template's labels.
func start(title, description string, labels ...int) TemplateCard {
	if labels == nil {
		labels = []int{}
	}
	return TemplateCard{Title: title, Description: description, Labels: labels, Checklists: []TemplateChecklist{}}
}

// with returns the card with another checklist.
func (c TemplateCard) with(title string, items ...string) TemplateCard {
	c.Checklists = append(c.Checklists, TemplateChecklist{Title: title, Items: items})
	return c
}
