package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strata-kafka/strata/model"
)

// ClusterOptions says how to open a cluster, beside its addresses.
type ClusterOptions struct {
	DirOptions
	Access Access
	Known  Known
}

// Known says where it is written how a cluster is reached. The zero value is nowhere: the addresses are all.
type Known struct {
	Settings   string // the settings file
	Profile    string // of the settings file; "" for none
	Properties string // a file of Java's clients or of librdkafka's; "" for none
}

// brokers returns the addresses that a SOURCE names; ok is false where it names none: HOST:PORT, several with commas.
func brokers(word string) (addrs []string, ok bool) {
	for a := range strings.SplitSeq(word, ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(a))
		if err != nil || host == "" || port == "" || strings.ContainsAny(a, "/\\") || strings.Trim(port, "0123456789") != "" {
			return nil, false
		}
		addrs = append(addrs, net.JoinHostPort(host, port))
	}
	return addrs, true
}

// profilePrefix says that a SOURCE is a profile's name, whatever else has that name.
const profilePrefix = "profile:"

// cluster finds out whether a SOURCE is a cluster: a profile's name, a file for clients, or addresses. A word that is a
// file's name as well as a profile's is neither: the error says how to choose.
func (a *app) cluster(word string) (addrs []string, k Known, ok bool, err error) {
	k.Settings = a.settingsPath()
	name, said := strings.CutPrefix(word, profilePrefix)
	names, err := a.profileNames()
	if err != nil {
		return nil, k, false, err
	}
	st, serr := os.Stat(word)
	known := slices.Contains(names, name)
	switch {
	case said && !known:
		return nil, k, false, fmt.Errorf("%w: no profile %q in %s%s", model.ErrInvalid, name, k.Settings, nearProfiles(name, names))
	case known && !said && serr == nil:
		return nil, k, false, fmt.Errorf("%w: %s is a profile and a file at once; say %s%s or .%c%s", model.ErrInvalid, word, profilePrefix, word, filepath.Separator, word)
	case known:
		k.Profile = name
		return nil, k, true, nil
	case serr == nil && st.Mode().IsRegular() && forClients(word):
		k.Properties = word
		return nil, k, true, nil
	case serr == nil:
		return nil, k, false, nil
	}
	addrs, ok = brokers(word)
	return addrs, k, ok, nil
}

// forClients reports whether a file's name is that of a config for Kafka clients.
func forClients(path string) bool {
	switch filepath.Ext(path) {
	case ".properties", ".conf", ".config":
		return true
	}
	return false
}

// profileNames returns the names of the profiles that there are.
func (a *app) profileNames() ([]string, error) {
	if a.eng.Profiles == nil {
		return nil, nil
	}
	rows, _, err := a.eng.Profiles(a.settingsPath())
	var names []string
	for i := range rows {
		names = append(names, rows[i].Name)
	}
	return names, err
}

func nearProfiles(name string, names []string) string {
	switch ns := model.Nearest(name, names); {
	case len(ns) > 0:
		return "; near are " + strings.Join(ns, ", ")
	case len(names) > 0:
		return "; it has " + strings.Join(names, ", ")
	}
	return ", which has none"
}

// openCluster opens a cluster, if a SOURCE is one.
func (a *app) openCluster(ctx context.Context, word string, access Access, o DirOptions) (src model.Source, ok bool, err error) {
	addrs, known, ok, err := a.cluster(word)
	if err != nil || !ok {
		return nil, false, err
	}
	src, err = a.eng.OpenCluster(ctx, addrs, ClusterOptions{DirOptions: o, Access: access, Known: known})
	if err != nil && ctx.Err() == nil && !errors.Is(err, model.ErrInvalid) {
		err = fmt.Errorf("%w; strata profile test %s says at which step", err, word)
	}
	return src, true, err
}
