package profile

import (
	_ "embed" // of the names that mean nothing here
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// knownKeys are keys of Java's and librdkafka's clients that say nothing about how a cluster is reached, or only how well.
//
//go:embed known.txt
var knownKeys string

// property is a line of a properties file.
type property struct {
	key   string
	value Secret // any of them may be one
	line  int
}

// ReadProperties reads a client.properties as Java's clients do, or a config as librdkafka and kcat do; which of the two it
// is, its keys tell. Keys that are for others are left out; unknown ones are warnings, or an error where they are of
// security. The error is that of reading; what cannot be used is the profile's Err as well.
func ReadProperties(path string) (Profile, error) {
	p := Profile{Name: filepath.Base(path), From: path}
	fail := func(err error) (Profile, error) {
		p.Err = fmt.Errorf("%s: %w", path, err)
		return p, p.Err
	}
	b, err := readSmall(path, maxFile)
	if err != nil {
		p.Err = err
		return p, err
	}
	props := parseLines(string(b))
	if !isLines(props) {
		if props, err = parseJava(string(b)); err != nil {
			return fail(err)
		}
	}
	r := reader{p: &p, dir: filepath.Dir(path), setters: setters()}
	for _, x := range props {
		err = errors.Join(err, r.take(x))
	}
	if err = errors.Join(err, r.finish()); err != nil {
		return fail(err)
	}
	if r.secret && othersMayRead(path) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s holds a secret and can be read by others: chmod 600 it", path))
	}
	return p, nil
}

// take takes one property.
func (r *reader) take(x property) error {
	if set, ok := r.setters[x.key]; ok {
		if err := set(r, x.value); err != nil {
			return fmt.Errorf("line %d: %s: %w", x.line, x.key, err)
		}
		return nil
	}
	known := strings.Fields(knownKeys)
	if slices.Contains(known, x.key) {
		return nil
	}
	names := slices.Clone(known)
	for k := range r.setters {
		names = append(names, k)
	}
	if !isKey(x.key) {
		r.p.Warnings = append(r.p.Warnings, fmt.Sprintf("%s, line %d: this begins with no key; does the line before go on here?", r.p.From, x.line))
		return nil
	}
	text := fmt.Sprintf("line %d: nobody knows the key %s", x.line, x.key)
	if ns := model.Nearest(x.key, names); len(ns) > 0 {
		text += "; near are " + strings.Join(ns, ", ")
	}
	for _, of := range []string{"ssl", "sasl", "security", "enable.ss", "bootstrap"} {
		if strings.HasPrefix(x.key, of) {
			return fmt.Errorf("%w: %s", model.ErrInvalid, text)
		}
	}
	r.p.Warnings = append(r.p.Warnings, r.p.From+", "+text)
	return nil
}

// isKey reports whether a word looks like a key. What does not may be a piece of a secret, and is not to be shown.
func isKey(s string) bool {
	return len(s) <= 80 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// isLines reports whether keys are there that only librdkafka knows.
func isLines(props []property) bool {
	for _, x := range props {
		switch x.key {
		case "metadata.broker.list", "sasl.mechanisms", "sasl.username", "sasl.password", "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location",
			"ssl.certificate.pem", "ssl.key.location", "ssl.key.pem", "enable.ssl.certificate.verification", "sasl.oauthbearer.method",
			"sasl.oauthbearer.config", "enable.sasl.oauthbearer.unsecure.jwt", "broker.address.family", "api.version.request":
			return true
		}
	}
	return false
}

// parseLines reads key=value, a line each, as kcat does.
func parseLines(s string) []property {
	var out []property
	n := 0
	for line := range strings.Lines(s) {
		n++
		line = strings.TrimSpace(line)
		k, v, ok := strings.Cut(line, "=")
		if !ok || line[0] == '#' {
			continue
		}
		out = append(out, property{strings.TrimSpace(k), Hide(strings.TrimSpace(v)), n})
	}
	return out
}

// parseJava reads a properties file as java.util.Properties does: a line goes on after a backslash at its end, and
// backslashes escape. Errors wrap model.ErrInvalid.
func parseJava(s string) ([]property, error) {
	var out []property
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		first := i + 1
		line := strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for goesOn(line) {
			line = line[:len(line)-1]
			if i++; i >= len(lines) {
				break
			}
			line += strings.TrimLeft(lines[i], " \t\f")
		}
		end := 0
		for end < len(line) && !strings.ContainsRune("=: \t\f", rune(line[end])) {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(line))
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		key, err1 := unescape(line[:end])
		value, err2 := unescape(rest)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%w: line %d: after \\u come four hex digits", model.ErrInvalid, first)
		}
		out = append(out, property{key, Hide(value), first})
	}
	return out, nil
}

// goesOn reports whether a line ends in an odd number of backslashes.
func goesOn(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

var errEscape = errors.New("bad escape")

// unescape resolves backslashes.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if len(s) < i+5 {
				return "", errEscape
			}
			n, err := hex16(s[i+1 : i+5])
			if err != nil {
				return "", err
			}
			b.WriteRune(n)
			i += 4
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

func hex16(s string) (rune, error) {
	var n rune
	for _, c := range []byte(s) {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if i < 0 {
			return 0, errEscape
		}
		n = n<<4 | rune(i)
	}
	return n, nil
}
