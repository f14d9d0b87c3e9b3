//! The metrics and the spans of calls, read back from exporters in memory.

mod common;

use std::collections::BTreeMap;

use common::Service;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{KeyValue, global};
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt as _;

type Attributes = BTreeMap<String, String>;

fn attributes<'a>(pairs: impl IntoIterator<Item = &'a KeyValue>) -> Attributes {
    let text = |pair: &KeyValue| (pair.key.to_string(), pair.value.to_string());
    pairs.into_iter().map(text).collect()
}

#[tokio::test]
async fn calls_have_durations_and_spans_by_the_names_of_the_conventions() {
    let measured = InMemoryMetricExporter::default();
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(measured.clone())
        .build();
    global::set_meter_provider(meters.clone());
    let traced = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(traced.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(tracers.tracer("clinic"));
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let service = Service::start().await;
    service.with_bill().await;
    let refund = json!({"bill": 1, "cents": 40_000});
    service.call("rosa", "refund", refund).await;
    service
        .result("rosa", "drop_tables", json!({}), json!({}))
        .await;
    service.audit().await;

    let spans = traced.get_finished_spans().unwrap();
    let span = |name: &str| {
        let span = spans.iter().find(|span| span.name == name);
        attributes(&span.unwrap_or_else(|| panic!("{spans:?}")).attributes)
    };
    let refunded = span("execute_tool refund");
    for (name, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "refund"),
        ("outcome", "violation"),
        ("effect", "none"),
        ("error.type", "violation"),
    ] {
        assert_eq!(
            refunded.get(name).map(String::as_str),
            Some(value),
            "{refunded:?}"
        );
    }
    let paid = span("execute_tool take_payment");
    assert_eq!((&*paid["outcome"], &*paid["effect"]), ("ok", "complete"));
    assert!(!paid.contains_key("error.type"), "{paid:?}");

    meters.force_flush().unwrap();
    let measured = measured.get_finished_metrics().unwrap();
    let scopes = measured.iter().flat_map(ResourceMetrics::scope_metrics);
    let metric = scopes.flat_map(ScopeMetrics::metrics).last().unwrap();
    assert_eq!(
        (metric.name(), metric.unit()),
        ("gen_ai.execute_tool.duration", "s")
    );
    let AggregatedMetrics::F64(MetricData::Histogram(durations)) = metric.data() else {
        panic!("{metric:?}")
    };
    let points = durations.data_points();
    let counts: BTreeMap<_, _> = points
        .map(|point| (attributes(point.attributes()), point.count()))
        .collect();
    let of = |tool: &str, error: Option<&str>| {
        let error = error.map(|error| ("error.type".to_owned(), error.to_owned()));
        let tool = ("gen_ai.tool.name".to_owned(), tool.to_owned());
        let attributes: Attributes = [tool].into_iter().chain(error).collect();
        counts.get(&attributes).copied()
    };
    assert_eq!(of("take_payment", None), Some(1), "{counts:?}");
    assert_eq!(of("refund", Some("violation")), Some(1), "{counts:?}");
    assert_eq!(of("_OTHER", Some("unknown_tool")), Some(1), "{counts:?}");
}
