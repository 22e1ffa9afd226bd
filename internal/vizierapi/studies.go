package vizierapi

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
	"github.com/fbo-node/fbo/strategy"
)

// createStudy joins the task of a study, or returns the study of this name with the same task.
func (s *service) createStudy(ctx context.Context, r *vizierpb.CreateStudyRequest) (*vizierpb.Study, error) {
	owner, err := parseOwner(r.GetParent())
	if err != nil {
		return nil, err
	}
	message := proto.CloneOf(r.GetStudy())
	if message.GetName() != "" {
		return nil, invalid("study.name %.100q: expected none; the service names a study after its display_name", message.GetName())
	}
	if !isPart(message.GetDisplayName()) {
		return nil, invalid("study.display_name %.100q: expected a text without /", message.GetDisplayName())
	}
	p, err := newProblem(message, s.server.Node().Strategies)
	if err != nil {
		return nil, err
	}
	message.Name, message.State, message.CreateTime = studyName(owner, message.GetDisplayName()), vizierpb.Study_ACTIVE, timestamppb.Now()
	one := &study{message, p}
	s.changes.Lock()
	defer s.changes.Unlock()
	known, exists := s.store.get(message.GetName())
	if exists && known.task.ID() != p.task.ID() && !sameProblem(known.Study, message) {
		return nil, connect.NewError(connect.CodeAlreadyExists, errors.New("study "+message.GetName()+" exists with another study_spec; expected the same one, or another study_id"))
	}
	if !exists {
		known = one
	}
	id := known.task.ID().String()
	others := s.store.all(func(other *study) bool {
		return other.task.ID() == known.task.ID() && other.GetName() != message.GetName()
	})
	if len(others) > 0 {
		return nil, refused("study %s is the same task as study %s of this node; expected another study_id", message.GetName(), others[0].GetName())
	}
	if _, err := s.server.Task(id); err != nil {
		if _, _, err := s.server.Create(ctx, trialserver.Order{Text: string(known.task.File())}, ""); err != nil {
			return nil, err
		}
	}
	if exists {
		return known.Study, nil
	}
	return message, s.store.put(one)
}

// sameProblem reports whether two studies differ in metadata only. A later version may make another task of
// the same specification, since defaults change.
func sameProblem(a, b *vizierpb.Study) bool {
	x, y := proto.CloneOf(a.GetStudySpec()), proto.CloneOf(b.GetStudySpec())
	x.Metadata, y.Metadata = nil, nil
	return proto.Equal(x, y)
}

// study returns a study that exists.
func (s *service) study(name string) (*study, error) {
	if err := checkStudy(name); err != nil {
		return nil, err
	}
	one, ok := s.store.get(name)
	if !ok {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("study "+name+" does not exist"))
	}
	return one, nil
}

// opened returns a study and its served task.
func (s *service) opened(name string) (*study, *trialserver.Task, error) {
	one, err := s.study(name)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.server.Task(one.task.ID().String())
	return one, t, err
}

// mutable returns a study whose trials may change, and its task.
func (s *service) mutable(name string) (*study, *trialserver.Task, error) {
	one, t, err := s.opened(name)
	if err == nil && !one.mutable() {
		err = refused("study %s is %v; expected ACTIVE", name, one.GetState())
	}
	return one, t, err
}

func (s *service) getStudy(_ context.Context, r *vizierpb.GetStudyRequest) (*vizierpb.Study, error) {
	one, err := s.study(r.GetName())
	if err != nil {
		return nil, err
	}
	return one.Study, nil
}

func (s *service) listStudies(_ context.Context, r *vizierpb.ListStudiesRequest) (*vizierpb.ListStudiesResponse, error) {
	owner, err := parseOwner(r.GetParent())
	if err != nil {
		return nil, err
	}
	answer := &vizierpb.ListStudiesResponse{}
	for _, one := range s.store.all(func(one *study) bool { return one.GetName() == studyName(owner, one.GetDisplayName()) }) {
		answer.Studies = append(answer.Studies, one.Study)
	}
	return answer, nil
}

// deleteStudy leaves the task of a study. Its journal stays: a promise of privacy would be void without it.
func (s *service) deleteStudy(_ context.Context, r *vizierpb.DeleteStudyRequest) (*vizierpb.Empty, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	one, err := s.study(r.GetName())
	if err != nil {
		return nil, err
	}
	if err := s.server.Leave(one.task.ID().String()); err != nil && !errors.Is(err, trialserver.ErrUnknownTask) {
		return nil, err
	}
	return &vizierpb.Empty{}, s.store.remove(one.GetName())
}

// change stores a study after a change of its message.
func (s *service) change(name string, change func(*vizierpb.Study) error) (*vizierpb.Study, error) {
	s.changes.Lock()
	defer s.changes.Unlock()
	one, err := s.study(name)
	if err != nil {
		return nil, err
	}
	message := proto.CloneOf(one.Study)
	if err := change(message); err != nil {
		return nil, err
	}
	return message, s.store.put(&study{message, one.problem})
}

func (s *service) setStudyState(_ context.Context, r *vizierpb.SetStudyStateRequest) (*vizierpb.Study, error) {
	if _, known := vizierpb.Study_State_name[int32(r.GetState())]; !known || r.GetState() == vizierpb.Study_STATE_UNSPECIFIED {
		return nil, invalid("state %v: expected ACTIVE, INACTIVE or COMPLETED", r.GetState())
	}
	return s.change(r.GetParent(), func(message *vizierpb.Study) error {
		message.State = r.GetState()
		return nil
	})
}

// updateMetadata sets entries of a study and of its trials. It checks all before it stores any.
func (s *service) updateMetadata(ctx context.Context, r *vizierpb.UpdateMetadataRequest) (*vizierpb.UpdateMetadataResponse, error) {
	_, t, err := s.mutable(r.GetName())
	if err != nil {
		return nil, err
	}
	trials, err := t.Session().Trials(ctx)
	if err != nil {
		return nil, err
	}
	var ofStudy []*vizierpb.KeyValue
	var order []uint64
	ofTrials := map[uint64]map[string]string{}
	for _, update := range r.GetDelta() {
		if update.TrialId == nil {
			ofStudy = append(ofStudy, update.GetMetadatum())
			continue
		}
		id, err := parseID(update.GetTrialId())
		if err != nil {
			return nil, err
		}
		if _, err := find(trials, id); err != nil {
			return nil, err
		}
		name, text, err := attributeOf(update.GetMetadatum())
		if err != nil {
			return nil, err
		}
		if ofTrials[id] == nil {
			ofTrials[id], order = map[string]string{}, append(order, id)
		}
		ofTrials[id][name] = text
	}
	for _, kv := range ofStudy {
		if kv.GetKey() == pythiaKey {
			return nil, unsupported("metadata %s: this service chooses designs itself; expected none", pythiaKey)
		}
	}
	for _, id := range order {
		change := strategy.AnnotationChange{Attributes: ofTrials[id]}
		if _, err := change.Apply(trials[id-1].Annotations, trials[id-1].Started); err != nil {
			return nil, err
		}
	}
	if len(ofStudy) > 0 {
		if _, err := s.change(r.GetName(), func(message *vizierpb.Study) error {
			message.StudySpec.Metadata = merged(message.StudySpec.Metadata, ofStudy)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, id := range order {
		if err := annotate(ctx, t, id, ofTrials[id]); err != nil {
			return nil, err
		}
	}
	return &vizierpb.UpdateMetadataResponse{}, nil
}
