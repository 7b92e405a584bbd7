package router

import "slices"

// optionNames lists all options of the language, also those of later versions.
func optionNames() []string {
	return []string{"name", "key", "any_name", "format", "dedup", "max_bytes", "oversize", "dead_letter", "on_poison", "null_payload"}
}

// options reads what stands behind the destinations.
func (p *parser) options(r *Rule) bool {
	var seen []string
	for !p.ended() {
		t := p.take()
		if t.kind != tokenWord {
			p.faults.add(t.at, "destinations stand before options; quote what belongs to a value", "%s after the destinations", t.kind)
			return false
		}
		eq := t.word.index('=')
		if eq < 0 {
			p.faults.add(t.at, `an option is "name=value", and destinations are separated by ","`, "%s is no option", quoteWord(t.word.text))
			continue
		}
		name := t.word.text[:eq]
		if slices.Contains(seen, name) {
			p.faults.add(t.at, "keep one", "option %s is repeated", quote(name))
			continue
		}
		seen = append(seen, name)
		p.option(r, name, t.word.slice(eq+1, len(t.word.text)), t.at)
	}
	return true
}

// option applies one option.
func (p *parser) option(r *Rule, name string, value word, at place) {
	switch name {
	case "name":
		r.Name, r.nameAt, r.named = value.text, at, true
		if value.text == "" {
			p.faults.add(at, "give the rule a label for its metrics", `"name=" is empty`)
		}
	case "key":
		r.key, _ = parseTemplate(value, p.faults)
		r.keyAt = at
	case "any_name":
		r.anyName = value.text == "true"
		if value.text != "true" && value.text != "false" {
			p.faults.add(value.at, `write "true" or "false"`, "any_name is %s", quote(value.text))
		}
	case "format":
		p.format(r, value)
	case "dedup", "max_bytes", "oversize", "dead_letter", "on_poison", "null_payload":
		// The value is not shown: it may be a URL with a password.
		if value.text != asThisVersion(name) || value.text == "" {
			p.faults.add(at, laterHint(name), "option %s is %s", quote(name), notInThisVersion)
		}
	default:
		p.faults.add(at, didYouMean(name, optionNames()), "unknown option %s", quote(name))
	}
}

// format reads the value of the option of this name.
func (p *parser) format(r *Rule, value word) {
	known := []string{"raw", "envelope"}
	later := []string{"debezium", "cloudevents"}
	switch {
	case slices.Contains(known, value.text):
		r.Format = value.text
	case slices.Contains(later, value.text):
		p.faults.add(value.at, `write "raw" or "envelope"`, "format %s is %s", quote(value.text), notInThisVersion)
	default:
		p.faults.add(value.at, didYouMean(value.text, known), "unknown format %s", quote(value.text))
	}
}

// asThisVersion is the value that asks for what this version does anyway.
func asThisVersion(option string) string {
	switch option {
	case "on_poison", "null_payload":
		return "halt"
	}
	return ""
}

func laterHint(option string) string {
	if v := asThisVersion(option); v != "" {
		return "remove it, or write " + quote(option+"="+v)
	}
	return "remove it"
}

// String is the token's kind in errors.
func (k tokenKind) String() string {
	switch k {
	case tokenWord:
		return "a word"
	case tokenArrow:
		return `a second "->"`
	case tokenComma:
		return `","`
	case tokenEnd, tokenEOF:
		return "the end of the rule"
	}
	return ""
}
