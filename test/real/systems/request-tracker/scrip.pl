# The code of a scrip "On Status Change", action "User Defined": tells closeloop of the change, signed. The address and the key
# stand in RT's configuration, so that nobody who may read scrips sees them.
my $url = RT->Config->Get('CloseloopUrl') or return 1;
require LWP::UserAgent; require Digest::SHA; require JSON;
my $change = $self->TransactionObj;
my $ticket = $self->TicketObj;
my $body = JSON->new->utf8->canonical->encode({
  v => 1, transaction => $change->id + 0, ticket => $ticket->id + 0, type => $change->Type,
  from => $change->OldValue, to => $change->NewValue, status => $ticket->Status, queue => $ticket->Queue + 0,
  by => $change->Creator + 0, at => $change->CreatedObj->W3CDTF(Timezone => 'UTC'),
});
my $now = time;
my $answer = LWP::UserAgent->new(timeout => 5, agent => 'rt-closeloop', max_redirect => 0)->post($url,
  'Content-Type' => 'application/json',
  'X-RT-Timestamp' => $now,
  'X-RT-Signature' => Digest::SHA::hmac_sha256_hex("$now.$body", RT->Config->Get('CloseloopKey')),
  Content => $body);
RT->Logger->error('closeloop: hook answered ' . $answer->status_line) unless $answer->is_success;
1;
