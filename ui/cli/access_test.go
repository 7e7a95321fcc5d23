package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/strata-kafka/strata/model"
)

// nodes is a cluster that gives another answer each time, until its last.
type nodes struct {
	model.Source
	answers [][]model.Broker
	asked   int
}

func (n *nodes) Brokers(context.Context) ([]model.Broker, error) {
	n.asked++
	if len(n.answers) > 1 {
		defer func() { n.answers = n.answers[1:] }()
	}
	return n.answers[0], nil
}

func (n *nodes) BrokerConfig(context.Context, int32) ([]model.ConfigEntry, error) {
	return []model.ConfigEntry{{Name: "log.retention.hours", Value: "48", Default: "168", Source: "file"}}, nil
}

func (n *nodes) Quorum(context.Context) ([]model.QuorumNode, error) { return nil, nil }

func (n *nodes) ACLs(context.Context) ([]model.ACL, error) {
	return []model.ACL{{Resource: "Topic", Name: "pay", Pattern: "Prefixed", Principal: "User:bob\x1b[2J", Host: "*", Operation: "Write"}}, nil
}

func (n *nodes) Quotas(context.Context) ([]model.Quota, error) {
	return []model.Quota{{Entity: "user=ada", Key: "request_percentage", Value: 12.5}, {Entity: "user=ada", Key: "producer_byte_rate", Value: 1 << 40}}, nil
}

func (n *nodes) Info(context.Context) (model.Info, error) {
	return model.Info{Kind: model.Cluster}, nil
}
func (n *nodes) Close() error { return nil }

func threeBrokers() *nodes {
	dirs := []model.LogDirUse{{Path: "/data", Bytes: 4096, Total: 1 << 30, Free: model.Unknown, Partitions: 3}}
	gone := model.Broker{ID: 3, Hosted: 3, Lagging: 3, Bytes: model.Unknown, Err: errors.New("fenced\x1b[2J")}
	late := model.Broker{ID: 2, Address: "b:9092", Rack: "b", Bytes: model.Unknown, Hosted: 3}
	one := model.Broker{ID: 1, Address: "a:9092", Rack: "a", Alive: true, Controller: true, Version: "4.4", Led: 3, Hosted: 3, Bytes: 4096, Dirs: dirs}
	two := late
	two.Alive, two.Bytes, two.Version, two.Dirs = true, 4096, "4.4", dirs
	return &nodes{answers: [][]model.Broker{{one, late, gone}, {one, two, gone}}}
}

// runOn runs a command on a cluster and returns what it printed and its exit code.
func runOn(t *testing.T, src model.Source, args ...string) (out, errs string, code int) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var o, e bytes.Buffer
	eng := Engines{OpenCluster: func(context.Context, []string, ClusterOptions) (model.Source, error) { return src, nil }}
	code = Run(t.Context(), append([]string{"--source", "127.0.0.1:9092"}, args...), "test", IO{In: strings.NewReader(""), Out: &o, Err: &e}, eng)
	return o.String(), e.String(), code
}

func TestBrokersWaitsForTheLate(t *testing.T) {
	src := threeBrokers()
	out, errs, code := runOn(t, src, "brokers")
	if code != exitWrong || errs != "" || src.asked != 2 {
		t.Errorf("code %d after %d asks, said %q", code, src.asked, errs)
	}
	const want = `ID  ADDRESS  RACK  STATE       VERSION  LED  REPLICAS  OUT OF SYNC  BYTES  NOTE
 1  a:9092   a     controller  4.4        3         3            0   4096
 2  b:9092   b     alive       4.4        0         3            0   4096
 3  –        –     not there   –          0         3            3      ?  fenced␛[2J
`
	if out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}

// TestBrokersGivesUp ends although one never answers.
func TestBrokersGivesUp(t *testing.T) {
	src := threeBrokers()
	src.answers = src.answers[:1]
	out, _, code := runOn(t, src, "brokers")
	if src.asked != maxAsks || code != exitWrong || !strings.Contains(out, "b:9092") {
		t.Errorf("code %d after %d asks:\n%s", code, src.asked, out)
	}
}

func TestAccessAsJSON(t *testing.T) {
	for cmd, want := range map[string][]string{
		"brokers": {
			`{"id":1,"address":"a:9092","rack":"a","alive":true,"controller":true,"version":"4.4","led":3,"replicas":3,"outOfSync":0,"bytes":4096,"logDirs":[{"path":"/data","partitions":3,"bytes":4096,"total":1073741824,"free":null,"error":null}],"error":null}`,
			`{"id":2,"address":"b:9092","rack":"b","alive":true,"controller":false,"version":"4.4","led":0,"replicas":3,"outOfSync":0,"bytes":4096,"logDirs":[{"path":"/data","partitions":3,"bytes":4096,"total":1073741824,"free":null,"error":null}],"error":null}`,
			`{"id":3,"address":null,"rack":null,"alive":false,"controller":false,"version":null,"led":0,"replicas":3,"outOfSync":3,"bytes":null,"logDirs":[],"error":"fenced\u001b[2J"}`,
		},
		"brokers --configs 1": {`{"name":"log.retention.hours","value":"48","default":"168","source":"file","note":null}`},
		"acls":                {`{"principal":"User:bob\u001b[2J","permission":"deny","operation":"Write","resource":"Topic","pattern":"Prefixed","name":"pay","host":"*"}`},
		"quotas":              {`{"entity":"user=ada","key":"request_percentage","value":12.5}`, `{"entity":"user=ada","key":"producer_byte_rate","value":1099511627776}`},
	} {
		t.Run(cmd, func(t *testing.T) {
			out, errs, _ := runOn(t, threeBrokers(), append(strings.Fields(cmd), "--json")...)
			if out != strings.Join(want, "\n")+"\n" || errs != "" {
				t.Errorf("%s%s\nwant\n%s", out, errs, strings.Join(want, "\n"))
			}
			for line := range strings.Lines(out) {
				if !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
		})
	}
}

func TestAccessTables(t *testing.T) {
	for cmd, want := range map[string]string{
		"acls":   "PRINCIPAL      MAY   OPERATION  RESOURCE  PATTERN   NAME  FROM\nUser:bob␛[2J  deny  Write      Topic     Prefixed  pay   *\n",
		"quotas": "ENTITY    KEY                         VALUE\nuser=ada  request_percentage           12.5\nuser=ada  producer_byte_rate  1099511627776\n",
	} {
		if out, _, _ := runOn(t, threeBrokers(), cmd); strings.Join(strings.Fields(out), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s:\n%s", cmd, out)
		}
	}
}

func TestWhatOnlyAClusterCan(t *testing.T) {
	plain := struct{ model.Source }{threeBrokers()}
	for cmd, want := range map[string]string{"brokers": "cannot list brokers here", "acls": "cannot list access rules", "quotas": "cannot list quotas"} {
		if _, errs, code := runOn(t, plain, cmd); code != exitCannot || !strings.Contains(errs, want) || !strings.Contains(errs, "no cluster") {
			t.Errorf("%s: code %d, %q", cmd, code, errs)
		}
	}
}
