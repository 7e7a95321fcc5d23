package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// isFailed reports whether an error code stands in a reply, at the top or in one of the parts that clients look at.
func isFailed(r reply) bool {
	switch r := r.(type) {
	case nil:
		return false
	case failing:
		return r.failed()
	case *kmsg.ApiVersionsResponse:
		return r.ErrorCode != 0
	}
	return false
}
