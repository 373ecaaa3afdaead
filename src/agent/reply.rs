//! One reply of the model: streamed, asked for again where it failed for a moment, kept in part where it was cut.

use tokio::time::{Instant, sleep};

use crate::agent::abort::Cut;
use crate::agent::event::Event;
use crate::agent::run::Run;
use crate::provider::{Delta, ProviderError, Request, ToolSpec};
use crate::session::{AssistantMessage, Block, Message, StopReason, Usage, now};

/// What came of asking the model; the message is in the conversation already.
#[derive(Debug)]
pub(super) enum Reply {
    /// A whole reply.
    Whole(AssistantMessage),
    /// What was said before the cut.
    Cut(AssistantMessage, Cut),
    /// What was said before the fault, and the fault in words.
    Failed(AssistantMessage, String),
}

impl Run<'_> {
    /// Asks the model; with no tools on offer it must answer in words.
    pub(super) async fn reply(&mut self, tools: &[ToolSpec], deadline: Instant) -> Reply {
        let retry = self.budget.retry;
        let mut attempt = 0;
        loop {
            let (reply, may_retry) = self.attempt(tools, deadline).await;
            let Reply::Failed(message, error) = reply else {
                let (success, final_error) = match &reply {
                    Reply::Cut(_, cut) => (false, Some(cut_short(*cut))),
                    _ => (true, None),
                };
                self.end_retries(attempt, success, final_error);
                return reply;
            };
            if !may_retry || attempt == retry.attempts {
                self.end_retries(attempt, false, Some(error.clone()));
                return Reply::Failed(message, error);
            }
            attempt += 1;
            let delay = retry.delay(attempt);
            self.emit(Event::AutoRetryStart {
                attempt,
                max_attempts: retry.attempts,
                delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                error_message: error,
            });
            if let Err(cut) = self.stop.guard(deadline, sleep(delay)).await {
                self.end_retries(attempt, false, Some(cut_short(cut)));
                return Reply::Cut(message, cut);
            }
        }
    }

    /// Asks once; says whether asking again may help.
    async fn attempt(&mut self, tools: &[ToolSpec], deadline: Instant) -> (Reply, bool) {
        let provider = self.provider;
        self.emit(Event::MessageStart { message: Message::Assistant(self.partial(String::new(), StopReason::Stop)) });
        let messages = self.tree.context();
        let request = Request { system: self.system, tools, messages: &messages };
        let mut words = String::new();
        let sink = &mut *self.sink;
        let mut on_delta = |delta: Delta| {
            if let Delta::TextDelta { delta } = &delta {
                words.push_str(delta);
            }
            sink(Event::MessageUpdate { assistant_message_event: delta });
        };
        let outcome = self.stop.guard(deadline, provider.reply(request, &mut on_delta)).await;
        let (reply, may_retry) = match outcome {
            Ok(Ok(message)) if matches!(message.stop_reason, StopReason::Error | StopReason::Aborted) => {
                let reason = message.error_message.unwrap_or_else(|| "the reply broke off".to_owned());
                let error = ProviderError { provider: provider.name().into(), message: reason, retryable: false };
                (self.failed(words, &error), false)
            }
            Ok(Ok(message)) => (Reply::Whole(in_words_where_no_tools(message, tools)), false),
            Ok(Err(error)) => (self.failed(words, &error), error.retryable),
            Err(cut) => (Reply::Cut(self.partial(words, StopReason::Aborted), cut), false),
        };
        let (Reply::Whole(message) | Reply::Cut(message, _) | Reply::Failed(message, _)) = &reply;
        self.meter.add(message.usage);
        self.keep(Message::Assistant(message.clone()));
        (reply, may_retry)
    }

    /// A reply that did not come to its end keeps its words; its calls are dropped, since nothing may run them.
    fn partial(&self, words: String, stop_reason: StopReason) -> AssistantMessage {
        AssistantMessage {
            content: if words.is_empty() { Vec::new() } else { vec![Block::text(words)] },
            provider: self.provider.name().to_owned(),
            model: self.provider.model().to_owned(),
            usage: Usage::default(),
            stop_reason,
            error_message: None,
            timestamp: now(),
        }
    }

    fn failed(&self, words: String, error: &ProviderError) -> Reply {
        let error = error.to_string();
        let message = self.partial(words, StopReason::Error);
        Reply::Failed(AssistantMessage { error_message: Some(error.clone()), ..message }, error)
    }

    fn end_retries(&mut self, attempt: u32, success: bool, final_error: Option<String>) {
        if attempt > 0 {
            self.emit(Event::AutoRetryEnd { success, attempt, final_error });
        }
    }
}

/// Where no tools were on offer, only words count: a call made all the same is dropped.
fn in_words_where_no_tools(mut message: AssistantMessage, tools: &[ToolSpec]) -> AssistantMessage {
    if tools.is_empty() {
        message.content.retain(|block| !matches!(block, Block::ToolCall(_)));
        if message.stop_reason == StopReason::ToolUse {
            message.stop_reason = StopReason::Stop;
        }
    }
    message
}

fn cut_short(cut: Cut) -> String {
    match cut {
        Cut::Aborted => "stopped by the user".to_owned(),
        Cut::Time => "the time is used up".to_owned(),
    }
}
