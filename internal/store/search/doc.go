// Package search translates the queries of package query to SQL, and defines what
// the search index contains.
package search
