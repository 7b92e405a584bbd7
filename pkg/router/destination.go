package router

import "strings"

// The kinds of sinks that a rule can name in this version.
const (
	SinkKafka  = "kafka"
	SinkStdout = "stdout"
)

// Target is one destination of an event.
type Target struct {
	// Sink is SinkKafka or SinkStdout.
	Sink string
	// Destination is the topic; it is empty for stdout, which has no names.
	Destination string
}

// dest is a destination as a rule says it.
type dest struct {
	sink string
	name *template // nil for stdout
	// target is the whole answer where no field takes part, its Sink else "".
	target Target
	at     place
}

const notInThisVersion = "not in this version"

// parseDest reads one destination. drop is true for the word "drop"; ok is
// false after a fault.
func parseDest(w word, f *faults) (d dest, drop, ok bool) {
	switch w.text {
	case "stdout":
		return dest{sink: SinkStdout, target: Target{Sink: SinkStdout}, at: w.at}, false, true
	case "drop":
		return dest{}, true, true
	case "table":
		f.add(w.at, `deliver to "kafka:TOPIC" or "stdout"`, `"table" is a dead-letter destination only, and those are %s`, notInThisVersion)
		return dest{}, false, false
	}
	scheme, rest, found := cutWord(w, ':')
	if !found {
		f.add(w.at, destHint(w.text), "unknown destination %s", quoteWord(w.text))
		return dest{}, false, false
	}
	switch scheme.text {
	case SinkKafka:
		d, ok = parseTopic(rest, f)
		d.at = w.at
		return d, false, ok
	case "sqs", "http", "https":
		f.add(w.at, `deliver to "kafka:TOPIC" or "stdout"`, "destinations of kind %s are %s", quote(scheme.text), notInThisVersion)
		return dest{}, false, false
	}
	if kind, _, at := strings.Cut(scheme.text, "@"); at {
		f.add(w.at, "deliver to one cluster only, as "+quote(kind+":NAME"), `"scheme@name:" is reserved for a second cluster or account, %s`, notInThisVersion)
		return dest{}, false, false
	}
	// Only the kind is shown: what follows may be a URL with a password.
	f.add(w.at, didYouMean(scheme.text, []string{SinkKafka, "sqs", "https", "http"}), "unknown kind of destination %s", quote(scheme.text))
	return dest{}, false, false
}

// destHint guesses what a word without a scheme was meant to be.
func destHint(text string) string {
	words := []string{"stdout", "drop"}
	for _, w := range words {
		if distance(text, w, 3) < 3 {
			return didYouMean(text, words)
		}
	}
	return `write "kafka:TOPIC", "stdout" or "drop"`
}

// parseTopic checks all that can be known of a topic before an event is seen.
func parseTopic(w word, f *faults) (d dest, ok bool) {
	t, ok := parseTemplate(w, f)
	d = dest{sink: SinkKafka, name: t}
	if !ok {
		return d, false
	}
	before := len(f.list)
	if name, literal := t.literal(); literal {
		d.target = Target{Sink: SinkKafka, Destination: name}
		if fault := topicFault(name); fault != "" {
			f.add(w.at, "choose another name", "topic %s %s", quote(name), fault)
		}
		return d, len(f.list) == before
	}
	for i := range t.parts {
		p := &t.parts[i]
		if fault := topicCharFault(p.literal); fault != "" {
			f.add(w.at, "change it", "topic %s %s", quote(t.text), fault)
		}
		if p.field.kind == fieldPosition && !p.hashed() {
			f.add(p.at, `write "{position|hash}"`, `a position holds "/" and ":", which no topic's name may`)
		}
	}
	if strings.HasPrefix(t.parts[0].literal, internalPrefix) {
		f.add(w.at, "choose another prefix", `topic %s starts with "__", as internal topics do`, quote(t.text))
	}
	return d, len(f.list) == before
}
