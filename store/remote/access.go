package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/strata-kafka/strata/model"
)

// The keys of the requests that tell who may do what.
const (
	keyDescribeACLs   = 29
	keyDescribeQuotas = 48
)

// ACLs implements model.AccessReader. Rules are ordered by what they are about. ErrRefused where the cluster has no
// authorizer, or does not tell.
func (c *Client) ACLs(ctx context.Context) ([]model.ACL, error) {
	ctx, done := c.bound(ctx)
	defer done()
	resp, err := c.known(ctx, keyDescribeACLs, func() kmsg.Request {
		req := kmsg.NewPtrDescribeACLsRequest()
		req.ResourceType = kmsg.ACLResourceTypeAny
		req.ResourcePatternType = kmsg.ACLResourcePatternTypeAny
		req.Operation = kmsg.ACLOperationAny
		req.PermissionType = kmsg.ACLPermissionTypeAny
		return req
	})
	if err != nil {
		return nil, fmt.Errorf("acls: %w", c.refusal(ctx, err, ""))
	}
	r, ok := resp.(*kmsg.DescribeACLsResponse)
	if !ok {
		return nil, fmt.Errorf("acls: answered by %T", resp)
	}
	if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
		return nil, fmt.Errorf("acls: %w", c.refusal(ctx, err, text(r.ErrorMessage)))
	}
	out := []model.ACL{}
	for i := range r.Resources {
		res := &r.Resources[i]
		for _, a := range res.ACLs {
			out = append(out, model.ACL{
				Resource: words(res.ResourceType.String()), Name: res.ResourceName, Pattern: words(res.ResourcePatternType.String()),
				Principal: a.Principal, Host: a.Host, Operation: words(a.Operation.String()), Allow: a.PermissionType == kmsg.ACLPermissionTypeAllow,
			})
		}
	}
	slices.SortFunc(out, func(a, b model.ACL) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Pattern, b.Pattern),
			cmp.Compare(a.Principal, b.Principal), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Host, b.Host))
	})
	return out, nil
}

// Quotas implements model.AccessReader. Quotas are ordered by entity and key. ErrRefused where the cluster does not tell.
func (c *Client) Quotas(ctx context.Context) ([]model.Quota, error) {
	ctx, done := c.bound(ctx)
	defer done()
	resp, err := c.known(ctx, keyDescribeQuotas, func() kmsg.Request { return kmsg.NewPtrDescribeClientQuotasRequest() }) // no components: all
	if err != nil {
		return nil, fmt.Errorf("quotas: %w", c.refusal(ctx, err, ""))
	}
	r, ok := resp.(*kmsg.DescribeClientQuotasResponse)
	if !ok {
		return nil, fmt.Errorf("quotas: answered by %T", resp)
	}
	if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
		return nil, fmt.Errorf("quotas: %w", c.refusal(ctx, err, text(r.ErrorMessage)))
	}
	out := []model.Quota{}
	for i := range r.Entries {
		e := entity(r.Entries[i].Entity)
		for _, v := range r.Entries[i].Values {
			out = append(out, model.Quota{Entity: e, Key: v.Key, Value: v.Value})
		}
	}
	slices.SortFunc(out, func(a, b model.Quota) int { return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Key, b.Key)) })
	return out, nil
}

// errTooOld is what a broker is that does not know a request.
var errTooOld = fmt.Errorf("%w: the brokers are too old to tell, or leave it out", model.ErrRefused)

// known asks for what not every broker knows.
func (c *Client) known(ctx context.Context, key int16, request func() kmsg.Request) (kmsg.Response, error) {
	apis, err := c.apis(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := apis[key]; !ok {
		return nil, errTooOld
	}
	return c.anyone(ctx, hedgeAfter, request)
}

// refusal puts into words why a cluster does not tell who may do what.
func (c *Client) refusal(ctx context.Context, err error, message string) error {
	switch {
	case errors.Is(err, kerr.SecurityDisabled):
		return fmt.Errorf("%w: security is disabled: the brokers have no authorizer (authorizer.class.name), so that everybody may do everything", model.ErrRefused)
	case errors.Is(err, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("%w: not authorized: it takes DESCRIBE on the cluster", model.ErrRefused)
	}
	return c.told(ctx, err, message)
}

// entity names whom a quota binds, as Kafka's own tools do: "client-id=billing, user=ada"; the default entity is <default>.
func entity(parts []kmsg.DescribeClientQuotasResponseEntryEntity) string {
	var out []string
	for _, p := range parts {
		name := "<default>"
		if p.Name != nil {
			name = *p.Name
		}
		out = append(out, p.Type+"="+name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// words writes a constant of the protocol as Kafka does: TRANSACTIONAL_ID is TransactionalId.
func words(s string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == ' ' }) {
		b.WriteString(strings.ToUpper(w[:1]) + strings.ToLower(w[1:]))
	}
	return b.String()
}

// text is a string that may be missing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
