package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxName       = 40
	maxIdentifier = 63 // NAMEDATALEN - 1
)

func checkNames(p *parser, c *Config) {
	slot, value := p.get("SLOT")
	slotOK := onlyOf(c.Slot, "_") && len(c.Slot) <= maxIdentifier
	if !slotOK {
		p.badValue(slot, value, "a slot's name has 1 to 63 of a-z, 0-9 and _")
	}
	pub, value := p.get("PUBLICATION")
	if len(c.Publication) > maxIdentifier || strings.ContainsFunc(c.Publication, unicode.IsControl) {
		p.badValue(pub, value, "a publication's name has at most 63 bytes and no control characters")
	}
	name, value := p.get("NAME")
	switch {
	case c.Name == "" && len(c.Slot) > maxName:
		p.fault(name, "required, because the slot's name has more than 40 characters; set a shorter name for metrics and logs")
	case c.Name == "":
		c.Name = c.Slot
	case !onlyOf(c.Name, "_-") || len(c.Name) > maxName:
		p.badValue(name, value, "want 1 to 40 of a-z, 0-9, _ and -")
	}
}

// onlyOf tells whether s has at least one character and none but a-z, 0-9 and
// those of extra.
func onlyOf(s, extra string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return s != ""
}

func checkListen(p *parser, c *Config) {
	s, value := p.get("LISTEN_ADDRESS")
	_, port, err := net.SplitHostPort(c.ListenAddress)
	if err != nil || port != "0" && !isPort(port) {
		p.badValue(s, value, "want host:port, such as 127.0.0.1:9855 or :9855")
	}
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && isDigits(s)
}

// isLoopback knows "localhost" and the loopback addresses; it asks no resolver.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
