# Once per database, what an owner does before closeloop comes: passwords, rights, tokens, a queue, custom fields, the scrip.
# Passwords and the scrip's code come as JSON on standard input; what was made goes out as JSON.
use strict; use warnings;
use lib '/usr/share/request-tracker5/lib';
use RT -init;
use JSON ();
my %in = %{ JSON::decode_json(do { local $/; <STDIN> }) };
my $system = RT->SystemUser;
my %made;
sub ok { my ($ok, @rest) = @_; die "failed: @rest\n" unless $ok; return $ok }

my $root = RT::User->new($system);
$root->Load('root');
ok($root->SetPassword($in{adminPassword}));
sub colleague {
  my $user = RT::User->new($system);
  ok($user->Create(Name => $_[0], EmailAddress => "$_[0]\@example.com", Privileged => 1, Password => $in{agentPassword}, Lang => 'en', Timezone => 'UTC'));
  return $user;
}
my ($agent, $none) = (colleague('closeloop'), colleague('no-rights'));
# The last three are for `reopen` with a queue and an owner.
for (qw(SeeQueue ShowTicket ShowTicketComments CommentOnTicket ModifyTicket SeeCustomField ModifyCustomField CreateTicket ReassignTicket OwnTicket)) {
  ok($agent->PrincipalObj->GrantRight(Object => $RT::System, Right => $_));
}
for ([admin => $root], [agent => $agent], [noRights => $none]) {
  my ($id, $message, $token) = RT::AuthToken->new($system)->Create(Owner => $_->[1]->id, Description => 'closeloop');
  ok($id, $message);
  $made{tokens}{ $_->[0] } = $token;
}
my $queue = RT::Queue->new($system);
ok($queue->Create(Name => 'Support', CorrespondAddress => 'support@example.com', CommentAddress => 'support-comment@example.com'));
ok(RT::Queue->new($system)->Create(Name => 'Escalations'));

for (
  { Name => 'Feedback grade', Type => 'FreeformSingle', Pattern => '(?#0 to 10)^(?:[0-9]|10)?$' },
  { Name => 'Feedback choice', Type => 'SelectSingle', options => [qw(good neutral bad)] },
  { Name => 'Feedback comment', Type => 'TextSingle' },
  { Name => 'Feedback day', Type => 'DateSingle' },
  { Name => 'Feedback at', Type => 'DateTimeSingle' },
  { Name => 'Feedback status', Type => 'FreeformSingle' },
  { Name => 'Feedback tags', Type => 'FreeformMultiple' },
) {
  my %field = %$_;
  my $options = delete $field{options} || [];
  my $field = RT::CustomField->new($system);
  ok($field->Create(%field, LookupType => 'RT::Queue-RT::Ticket'));
  ok($field->AddToObject(RT::Queue->new($system))); # every queue
  ok($field->AddValue(Name => $options->[$_], SortOrder => $_)) for 0 .. $#$options;
  $made{fields}{ $field{Name} } = $field->id;
}

my ($id, $message) = RT::Scrip->new($system)->Create(Description => 'closeloop: status changed', Queue => 0, Stage => 'TransactionBatch',
  ScripCondition => 'On Status Change', ScripAction => 'User Defined', Template => 'Blank',
  CustomPrepareCode => 'return 1;', CustomCommitCode => $in{scrip});
ok($id, $message);
print JSON->new->utf8->canonical->encode(\%made);
