package profile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// certName is for whom a certificate is.
func certName(c *x509.Certificate) string {
	if len(c.DNSNames) > 0 {
		return strings.Join(c.DNSNames[:min(3, len(c.DNSNames))], " ")
	}
	if len(c.IPAddresses) > 0 {
		return c.IPAddresses[0].String()
	}
	return c.Subject.CommonName
}

// whyNoTLS says what went wrong with a handshake, and what to do.
func whyNoTLS(err error, name string) (what, next string) {
	var rec tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	switch {
	case errors.As(err, &rec), errors.Is(err, io.EOF) && !errors.As(err, &alert):
		return "it does not answer in TLS", "is this a listener without TLS? Then leave tls out of the profile, or take the port of the one with TLS"
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that is not trusted here" + signer(unknown.Cert),
			"set tls.ca to the PEM file of the authority that signed it"
	case errors.As(err, &host):
		return host.Error(), fmt.Sprintf("set tls.server_name to a name of the certificate, which has %s and not %s", certName(host.Certificate), name)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return invalid.Error(), "the broker needs a new certificate, or this machine's clock is wrong: it says " + time.Now().UTC().Format(time.RFC3339)
	case errors.As(err, &alert):
		return "the broker refuses: " + alert.Error(), "the broker may want a client's certificate: set tls.cert and tls.key"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer to the handshake within %v", stepWithin), "is this a listener without TLS? Then leave tls out of the profile"
	case errors.Is(err, syscall.ECONNRESET):
		return "the broker closed the connection", "is this a listener without TLS, or does it want a client's certificate (tls.cert, tls.key)?"
	}
	var op *net.OpError
	if errors.As(err, &op) && strings.Contains(op.Op, "remote") {
		return "the broker refuses: " + op.Err.Error(), "the broker may want a client's certificate: set tls.cert and tls.key"
	}
	return err.Error(), "check tls.ca, tls.cert and tls.key"
}

func signer(c *x509.Certificate) string {
	if c == nil || c.Issuer.CommonName == "" {
		return ""
	}
	return " (" + c.Issuer.CommonName + ")"
}
