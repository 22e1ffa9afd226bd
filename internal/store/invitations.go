package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/invitation"
)

// invitationDir is the folder in a data directory with the invitations by which the node has joined
// tasks, one file per task.
const invitationDir = "invitations"

// ReadInvitation reads an invitation from a file. The file must be readable by its owner only,
// since any node with the invitation can join the task.
func ReadInvitation(path string) (invitation.Invitation, error) {
	file, err := os.Open(path)
	if err != nil {
		return invitation.Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return invitation.Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return invitation.Invitation{}, fmt.Errorf("invitation %s is readable by others (mode %04o): expected 0600; make a new invitation if others may have read it", path, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, 2*invitation.MaxTextBytes))
	if err != nil {
		return invitation.Invitation{}, fmt.Errorf("invitation: %w", err)
	}
	i, err := invitation.Parse(string(text))
	if err != nil {
		return invitation.Invitation{}, fmt.Errorf("%s: %w", path, err)
	}
	return i, nil
}

// WriteInvitation writes an invitation to a new file that only its owner can read. If the file
// exists, the error wraps fs.ErrExist.
func WriteInvitation(path string, i invitation.Invitation) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	_, err = fmt.Fprintln(file, i.Text())
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	return nil
}

// JoinedBy returns the stored invitation by which the node of this directory has joined a task; nil
// if there is none.
func JoinedBy(dir, task string) (*invitation.Invitation, error) {
	path := filepath.Join(dir, invitationDir, task)
	for _, part := range []string{filepath.Dir(path), path} {
		if err := datadir.NoLink(part); err != nil {
			return nil, fmt.Errorf("invitation: %w", err)
		}
	}
	i, err := ReadInvitation(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && i.Task().String() != task {
		err = fmt.Errorf("%s is an invitation to task %v", path, i.Task())
	}
	if err != nil {
		return nil, err
	}
	return &i, nil
}

// KeepInvitation stores an invitation for JoinedBy.
func (s *Store) KeepInvitation(i invitation.Invitation) error { return KeepInvitation(s.dir, i) }

// KeepInvitation stores an invitation for JoinedBy in a data directory.
func KeepInvitation(dir string, i invitation.Invitation) error {
	folder, err := datadir.Folder(dir, invitationDir)
	if err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	if err := writeFile(filepath.Join(folder, i.Task().String()), i.Text()+"\n"); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	return nil
}

// InvitedTasks returns the IDs of the tasks with a stored invitation in a data directory.
func InvitedTasks(dir string) (ids []string, err error) {
	folder := filepath.Join(dir, invitationDir)
	if err := datadir.NoLink(folder); err != nil {
		return nil, fmt.Errorf("invitations: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("invitations: %w", err)
	}
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids, nil
}
