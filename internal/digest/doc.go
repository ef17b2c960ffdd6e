// Package digest says what happened on a board, or on the boards of a workspace, in a period.
//
// A digest groups the entries of the activity: cards that were created, completed, moved, and
// so on. A group has one item for each card, however often the card changed. Its total is the
// true number of its items.
//
// A digest is written for the context window of a model, so its size is limited. It has at most
// 4,000 tokens of the vocabulary o200k_base. An estimate that never falls below the true number
// decides how many items fit. Boards and groups take turns, so that a busy one does not crowd
// out the others. What is left out is counted.
//
// A person gets only what the activity of the boards shows that the person can see. A card or
// list that has moved to another board has no name in a digest.
package digest
