package invitation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/invitation"
)

func taskOf(t testing.TB, text string) cid.Cid {
	t.Helper()
	hash, err := multihash.Sum([]byte(text), multihash.SHA2_256, -1)
	if err != nil {
		t.Fatal(err)
	}
	return cid.NewCidV1(0x0200, hash) // JSON
}

func TestTextIsReadAgain(t *testing.T) {
	i := invitation.New(taskOf(t, "a"))
	for _, text := range []string{i.Text(), i.Text() + "\n", "  " + i.Text() + "\r\n"} {
		again, err := invitation.Parse(text)
		if err != nil || !again.Equal(i) || again.Task() != i.Task() {
			t.Errorf("%v, %v", again, err)
		}
	}
	if i.Equal(invitation.New(i.Task())) {
		t.Error("two invitations have one secret")
	}
}

// Whatever single character is mistyped, left out or doubled, or wherever the line is
// cut: one error, and it does not quote the text.
func TestParseRefusesMistypedText(t *testing.T) {
	text := invitation.New(taskOf(t, "a")).Text()
	fbotest.CheckMistyped(t, text, text[60:90], func(typed string) error { _, err := invitation.Parse(typed); return err })
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	text := invitation.New(taskOf(t, "a")).Text()
	for typed, want := range map[string]string{
		"":                                     "does not begin with fbo-invite-",
		"hello":                                "does not begin with fbo-invite-",
		strings.Repeat(text, 10):               "the limit is 512",
		"fbo-invite-":                          "cut short",
		"fbo-invite-2-" + text[13:]:            "another version than 1",
		text[:40]:                              "checksum",
		text + "\n" + text:                     "checksum",
		text[:50] + strings.ToUpper(text[50:]): "checksum",
	} {
		if _, err := invitation.Parse(typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q…: %v, want %q", typed, err, want)
		}
	}
}

func TestPrintingHidesTheSecret(t *testing.T) {
	i := invitation.New(taskOf(t, "a"))
	text := i.Text()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, printed := range []string{fmt.Sprintf(format, i), fmt.Sprintf(format, &i), fmt.Sprintf(format, struct{ I invitation.Invitation }{i})} {
			if strings.Contains(printed, text[80:100]) || strings.Contains(printed, "secret") || len(printed) > 200 {
				t.Errorf("%s prints %s", format, printed)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	text := invitation.New(taskOf(f, "a")).Text()
	f.Add(text)
	f.Add(text[:50])
	f.Add("fbo-invite-1-")
	f.Fuzz(func(t *testing.T, typed string) {
		i, err := invitation.Parse(typed)
		if err != nil {
			return
		}
		if i.Text() != strings.TrimSpace(typed) {
			t.Errorf("%q is read as %q", typed, i.Text())
		}
		_ = i.Keys()
	})
}
