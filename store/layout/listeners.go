package layout

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// Listener is one of the listeners of a server.properties.
type Listener struct {
	Name     string // as in the file: PLAINTEXT, INTERNAL
	Protocol string // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
	Host     string // "" for every network interface
	Port     int
}

// Address is the listener's HOST:PORT.
func (l Listener) Address() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

// protocols are the security protocols, which are also names of listeners that need no map.
var protocols = [...]string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}

const wantListeners = "NAME://HOST:PORT, several with commas"

// listeners takes the keys that say where clients are served. Listeners of controllers are left out. The keys of old
// brokers, host.name and port, count where listeners is not there.
func (s *settings) listeners() {
	names := map[string]string{}
	for _, p := range protocols {
		names[p] = p
	}
	if p, ok := s.take("listener.security.protocol.map"); ok {
		for _, pair := range SplitList(p.Value) {
			name, protocol, ok := strings.Cut(pair, ":")
			if name, protocol = strings.TrimSpace(name), strings.ToUpper(strings.TrimSpace(protocol)); !ok || !slices.Contains(protocols[:], protocol) {
				s.invalid(p, "NAME:PROTOCOL, several with commas; protocols are "+strings.Join(protocols[:], ", "))
				continue
			}
			names[strings.ToUpper(name)] = protocol
		}
	}
	var controllers []string
	if p, ok := s.take("controller.listener.names"); ok {
		controllers = SplitList(strings.ToUpper(p.Value))
	}
	list := func(key string) []Listener {
		p, ok := s.take(key)
		if !ok {
			return nil
		}
		var all []Listener
		for _, word := range SplitList(p.Value) {
			l, ok := parseListener(word, names)
			switch {
			case slices.Contains(controllers, l.Name):
			case !ok:
				s.invalid(p, wantListeners)
				return nil
			default:
				all = append(all, l)
			}
		}
		return all
	}
	s.broker.Listeners, s.broker.Advertised = list("listeners"), list("advertised.listeners")
	if _, ok := s.props["listeners"]; ok {
		return
	}
	host, hosted := s.take("host.name")
	port := s.number("port", 0, 0, 65535)
	if _, ok := s.props["port"]; ok && port == 0 {
		return // port 0 is a free one, and belongs to --listen
	}
	if hosted || port > 0 {
		if port == 0 {
			port = 9092
		}
		s.broker.Listeners = []Listener{{Name: "PLAINTEXT", Protocol: "PLAINTEXT", Host: strings.TrimSpace(host.Value), Port: int(port)}}
	}
}

// parseListener reads NAME://HOST:PORT. The name is told also where the rest cannot be read.
func parseListener(word string, names map[string]string) (l Listener, ok bool) {
	name, address, ok := strings.Cut(word, "://")
	l.Name = strings.ToUpper(strings.TrimSpace(name))
	if !ok {
		return l, false
	}
	host, port, err := net.SplitHostPort(strings.TrimSpace(address))
	if err != nil {
		return l, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return l, false
	}
	l.Host, l.Port, l.Protocol = host, int(n), names[l.Name]
	return l, l.Protocol != ""
}

// Secured is what a server.properties says of how clients are told apart and hidden from others.
type Secured struct {
	Keystore   string   // ssl.keystore.location, where ssl.keystore.type is PEM: certificate and key
	Truststore string   // ssl.truststore.location, where ssl.truststore.type is PEM
	ClientAuth bool     // ssl.client.auth is required
	Mechanisms []string // sasl.enabled.mechanisms; nil where the file does not say
}

// secured reads them. Java's keystores are not read: their types are told as invalid.
func (s *settings) secured() Secured {
	var out Secured
	pem := func(location, kind string) string {
		l, ok := s.take(location)
		if !ok {
			return ""
		}
		if t, ok := s.take(kind); !ok || !strings.EqualFold(strings.TrimSpace(t.Value), "PEM") {
			s.invalid(l, "a PEM file, with "+kind+"=PEM")
			return ""
		}
		return strings.TrimSpace(l.Value)
	}
	out.Keystore = pem("ssl.keystore.location", "ssl.keystore.type")
	out.Truststore = pem("ssl.truststore.location", "ssl.truststore.type")
	if p, ok := s.take("ssl.client.auth"); ok {
		switch strings.TrimSpace(p.Value) {
		case "required":
			out.ClientAuth = true
		case "none":
		default:
			s.invalid(p, "required or none")
		}
	}
	if p, ok := s.take("sasl.enabled.mechanisms"); ok {
		out.Mechanisms = SplitList(p.Value)
	}
	return out
}
