// Package access shows who may do what on a cluster, and how much: its access control lists and its client quotas, in two
// tables.
//
//	 12 rules · 2 deny · 3 quotas
//	── access rules ──────────────────────────────────────────────────────────────────────────
//	  PRINCIPAL  MAY    OPERATION  RESOURCE  NAME             FROM
//	▌ User:ada   allow  Read       Topic     orders           *
//	  User:bob   deny   Write      Topic     pay… prefixed    10.0.0.7
//	── client quotas ─────────────────────────────────────────────────────────────────────────
//	  WHO                 WHAT                     AT MOST
//	  client-id=billing   producer_byte_rate   1.0 MiB / s
//
// # Why
//
//   - Whether everybody may do everything is the first thing to know, so a cluster without an authorizer says so where
//     the rules would be.
//   - Denials come first: they win over whatever allows.
//   - A prefix has the word beside it and is not written as pay*: a * alone is the rule for all names.
//   - The rules are read when the page is opened and on ctrl-r: they change seldom, and there may be thousands.
package access
