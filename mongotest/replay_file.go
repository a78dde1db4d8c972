package mongotest

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/mongosh"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A session is the content of a recording: the commands of one client, in the order sent.
type session struct {
	server    bson.Raw // facts of the server's hello that the driver depends on
	exchanges []*exchange
}

// An exchange is a command and its reply.
type exchange struct {
	database string
	command  bson.Raw // without the driver's additions
	reply    bson.Raw // nil unless end is ""
	end      string
}

// How a command without a reply ended.
const (
	endUnacknowledged = "unacknowledged" // the client wanted no reply
	endCut            = "cut"            // the connection broke
	endAbandoned      = "abandoned"      // the client stopped waiting
)

func (x *exchange) asCommand() Command { return newCommand(x.database, x.command) }

const (
	sessionHead   = "mongotest replay 1"
	sessionRemark = "# Recorded by mongotest.Replay. The ObjectIDs 000000001d… stand for those that the client made, 000000005e… for\n" +
		"# the server's own.\n"
)

// text returns the session as stored.
func (s *session) text() (string, error) {
	var b strings.Builder
	b.WriteString(sessionHead + "\n" + sessionRemark)
	write := func(mark string, d bson.Raw) error {
		text, err := extendedText(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d})
		b.WriteString(mark + text + "\n")
		return err
	}
	if err := write("server ", s.server); err != nil {
		return "", err
	}
	for i, x := range s.exchanges {
		b.WriteString("\n")
		if err := write("> "+x.database+" ", x.command); err != nil {
			return "", fmt.Errorf("command %d, %s: %w", i+1, x.asCommand().Name, err)
		}
		if x.end != "" {
			b.WriteString("< " + x.end + "\n")
			continue
		}
		if err := write("< ", x.reply); err != nil {
			return "", fmt.Errorf("the reply of command %d, %s: %w", i+1, x.asCommand().Name, err)
		}
	}
	return b.String(), nil
}

// parseSession reads the output of text.
func parseSession(text string) (*session, error) {
	s := &session{}
	for _, part := range sections(text) {
		if err := s.read(part.text); err != nil {
			return nil, fmt.Errorf("line %d: %w", part.line, err)
		}
	}
	if s.server == nil {
		return nil, fmt.Errorf("no line begins with %q; is it a recording?", "server")
	}
	for i, x := range s.exchanges {
		if x.reply == nil && x.end == "" {
			return nil, fmt.Errorf("command %d, %s, has no reply", i+1, x.asCommand().Name)
		}
	}
	return s, nil
}

type section struct {
	line int
	text string
}

// sections splits the text at marks at the beginning of lines.
func sections(text string) []section {
	var out []section
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case len(out) > 0 && (strings.HasPrefix(line, " ") || line == "}"):
			out[len(out)-1].text += "\n" + line
		default:
			out = append(out, section{i + 1, line})
		}
	}
	return out
}

func (s *session) read(part string) error {
	mark, rest, _ := strings.Cut(part, " ")
	var err error
	switch {
	case part == sessionHead:
	case mark == "server":
		s.server, err = parseExtended(rest)
	case mark == ">":
		x := &exchange{}
		x.database, rest, _ = strings.Cut(rest, " ")
		x.command, err = parseExtended(rest)
		s.exchanges = append(s.exchanges, x)
	case mark == "<" && len(s.exchanges) > 0:
		x := s.exchanges[len(s.exchanges)-1]
		switch {
		case x.reply != nil || x.end != "":
			return fmt.Errorf("%s has a second reply", x.asCommand().Name)
		case rest == endUnacknowledged || rest == endCut || rest == endAbandoned:
			x.end = rest
		default:
			x.reply, err = parseExtended(rest)
		}
	default:
		return fmt.Errorf("%q is not a part of a recording of this version", mongosh.Shorten(part, 40))
	}
	return err
}
