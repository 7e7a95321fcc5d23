package meta

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/strata-kafka/strata/store/layout"
)

// Bounds of what Text writes out.
const (
	maxItems  = 20  // of an array
	maxLetter = 200 // of a string
	maxHex    = 16  // bytes
)

// Text puts a record of one of Kafka's own topics into a line of words; ok is false for any other topic. What cannot be
// decoded is said in words too. Bytes from outside are quoted where they hold anything but plain letters.
func Text(topic string, key, value []byte) (words string, ok bool) {
	var err error
	switch topic {
	case layout.OffsetsTopic:
		words, err = groupText(key, value)
	case layout.TransactionsTopic:
		words, err = txnText(key, value)
	case layout.ShareTopic:
		words, err = shareText(key, value)
	case layout.MetadataTopic:
		var m MetadataRecord
		if m, err = ParseMetadataRecord(value); err == nil {
			words = m.String()
		}
	default:
		return "", false
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return "not known here: " + err.Error(), true
	case err != nil:
		return "not decodable: " + err.Error(), true
	}
	return words, true
}

// ControlText puts a control record into a line of words.
func ControlText(key, value []byte) string {
	m, err := ParseControl(key, value)
	switch {
	case errors.Is(err, ErrUnknown):
		return "not known here: " + err.Error()
	case err != nil:
		return "not decodable: " + err.Error()
	}
	return m.String()
}

func groupText(key, value []byte) (string, error) {
	k, err := ParseGroupKey(key)
	if err != nil {
		return "", err
	}
	who := plain(k.Group) + ": "
	if k.Commit() {
		place := plain(k.Topic) + "/" + strconv.Itoa(int(k.Partition))
		if value == nil {
			return who + "commit of " + place + " deleted", nil
		}
		c, err := ParseOffsetCommit(value)
		if err != nil {
			return "", err
		}
		return who + place + " committed at " + commitText(c), nil
	}
	if k.Version == KeyGroup && value != nil {
		g, err := ParseGroupMetadata(value)
		if err != nil {
			return "", err
		}
		return who + classicText(g), nil
	}
	what := k.Name
	switch {
	case k.Member != "":
		what += " of member " + plain(k.Member)
	case k.Regex != "":
		what += " of " + plain(k.Regex)
	}
	if value == nil {
		return who + what + " deleted", nil
	}
	m, err := ParseGroupValue(k, value)
	if err != nil {
		return "", err
	}
	return who + what + spaced(m.Fields), nil
}

func commitText(c OffsetCommit) string {
	s := strconv.FormatInt(c.Offset, 10)
	if c.LeaderEpoch >= 0 {
		s += ", leader epoch " + strconv.Itoa(int(c.LeaderEpoch))
	}
	if c.Metadata != "" {
		s += ", metadata " + plain(c.Metadata)
	}
	s += ", " + at(c.CommittedAt)
	if c.ExpiresAt >= 0 {
		s += ", expires " + at(c.ExpiresAt)
	}
	return s
}

func classicText(g Group) string {
	var s strings.Builder
	s.WriteString("classic group")
	if g.ProtocolType != "" {
		s.WriteString(" of type " + plain(g.ProtocolType))
	}
	fmt.Fprintf(&s, ", generation %d", g.Generation)
	if g.Protocol != "" {
		s.WriteString(", protocol " + plain(g.Protocol))
	}
	if len(g.Members) == 0 {
		s.WriteString(", no members")
		return s.String()
	}
	fmt.Fprintf(&s, ", %s: ", count(len(g.Members), "member"))
	for i, m := range g.Members {
		if i == maxItems {
			fmt.Fprintf(&s, " and %d more", len(g.Members)-i)
			break
		}
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(plain(m.ID))
		if g.ProtocolType != "consumer" {
			continue
		}
		if a, err := ParseAssignment(m.Assignment); err == nil {
			fmt.Fprintf(&s, " has %s", count(len(a.Partitions), "partition"))
		}
	}
	return s.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func txnText(key, value []byte) (string, error) {
	id, err := ParseTransactionKey(key)
	if err != nil {
		return "", err
	}
	if value == nil {
		return plain(id) + ": deleted", nil
	}
	t, err := ParseTransactionValue(value)
	if err != nil {
		return "", err
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s, producer %d epoch %d", plain(id), t.Status, t.ProducerID, t.ProducerEpoch)
	for i, tp := range t.Partitions {
		switch {
		case i == maxItems:
			fmt.Fprintf(&s, " and %d more", len(t.Partitions)-i)
		case i > maxItems:
		case i == 0:
			s.WriteString(", in " + plain(tp.Topic) + "/" + strconv.Itoa(int(tp.Partition)))
		default:
			s.WriteString(" " + plain(tp.Topic) + "/" + strconv.Itoa(int(tp.Partition)))
		}
	}
	if t.StartedAt >= 0 {
		s.WriteString(", begun " + at(t.StartedAt))
	}
	fmt.Fprintf(&s, ", timeout %d ms", t.TimeoutMS)
	return s.String(), nil
}

func shareText(key, value []byte) (string, error) {
	k, err := ParseShareKey(key)
	if err != nil {
		return "", err
	}
	who := fmt.Sprintf("%s: %s of %s/%d", plain(k.Group), k.Name, k.Topic, k.Partition)
	if value == nil {
		return who + " deleted", nil
	}
	m, err := parseValue(shareValueSchemas(), k.Version, value)
	if err != nil {
		return "", err
	}
	return who + spaced(m.Fields), nil
}

// String puts the message into words: its name and its fields.
func (m Message) String() string {
	s := m.Name + spaced(m.Fields)
	if m.Rest > 0 {
		s += fmt.Sprintf(" and %d bytes that are not understood", m.Rest)
	}
	return s
}

func spaced(f Fields) string {
	if len(f) == 0 {
		return ""
	}
	return " " + f.String()
}

// String puts the fields into words: name=value, with blanks between them.
func (f Fields) String() string {
	var s strings.Builder
	f.write(&s)
	return s.String()
}

func (f Fields) write(s *strings.Builder) {
	for i := range f {
		if i > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(f[i].Name)
		s.WriteByte('=')
		writeValue(s, f[i].Value)
	}
}

func writeValue(s *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		s.WriteString("null")
	case string:
		s.WriteString(plain(v))
	case []byte:
		s.WriteString("0x" + hex.EncodeToString(v[:min(len(v), maxHex)]))
		if len(v) > maxHex {
			fmt.Fprintf(s, "…(%d bytes)", len(v))
		}
	case Fields:
		s.WriteByte('{')
		v.write(s)
		s.WriteByte('}')
	case []int32:
		writeList(s, len(v), func(i int) { s.WriteString(strconv.Itoa(int(v[i]))) })
	case []any:
		writeList(s, len(v), func(i int) { writeValue(s, v[i]) })
	default:
		fmt.Fprint(s, v)
	}
}

func writeList(s *strings.Builder, n int, item func(i int)) {
	s.WriteByte('[')
	for i := range min(n, maxItems) {
		if i > 0 {
			s.WriteByte(' ')
		}
		item(i)
	}
	if n > maxItems {
		fmt.Fprintf(s, " … %d more", n-maxItems)
	}
	s.WriteByte(']')
}

// plain returns s as it is when it is made of visible letters and cannot be mistaken for anything else, else quoted; cut
// when it is long.
func plain(s string) string {
	cut := ""
	if len(s) > maxLetter {
		s, cut = strings.ToValidUTF8(s[:maxLetter], ""), "…"
	}
	odd := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune(`"\=[]{},`, r) || r == 0xfffd
	}
	if s == "" || s == "null" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s) + cut
	}
	return s + cut
}

// at writes a time; what no calendar has is written as the number it is.
func at(ms int64) string {
	const last = 253402300799999 // the year 9999
	if ms < 0 || ms > last {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
