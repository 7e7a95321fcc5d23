package rows

import (
	"context"

	"github.com/strata-kafka/strata/model"
)

// EndError is how a search that has begun came to its end. It is an error so that it comes through a page.Stream.
type EndError struct{ End model.SearchEnd }

// Error returns the reason in words.
func (e *EndError) Error() string { return e.End.Reason }

// Search searches, for a page.Stream to run. It returns an *EndError, or the error for which nothing was searched; never nil.
func Search(ctx context.Context, src model.Searcher, q model.SearchQuery, emit func(model.SearchEvent) bool) error {
	end, err := src.Search(ctx, q, emit)
	if err != nil && end.Reason == "" {
		return err
	}
	return &EndError{end}
}
