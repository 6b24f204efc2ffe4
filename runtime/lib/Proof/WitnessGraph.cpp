//===- WitnessGraph.cpp - the smallest part of a program that shows a finding -----------------===//

#include "WitnessGraph.h"

#include "kiln/ISA/Text.h"

#include <algorithm>
#include <map>
#include <queue>

using namespace kilnrt;
using namespace kilnrt::proof;
using kiln::text;

namespace {

/// Nodes by event, in the order they come.
class GraphBuilder {
public:
  GraphBuilder(const Events &events, Graph &graph) : events(events), graph(graph) {}

  uint32_t node(EventId id) {
    const Event &event = events.events[id];
    for (uint32_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].engine == event.engine && graph.nodes[i].index == event.index)
        return i;
    graph.nodes.push_back({event.engine, event.index, std::string(events.descOf(event).mnemonic),
                           events.program.chain(event.location)});
    return uint32_t(graph.nodes.size() - 1);
  }
  void edge(GraphEdge::Kind kind, EventId from, EventId to, std::string label) {
    const GraphEdge added{kind, node(from), node(to), std::move(label)};
    for (const GraphEdge &old : graph.edges)
      if (old.kind == kind && old.from == added.from && old.to == added.to)
        return;
    graph.edges.push_back(added);
  }

private:
  const Events &events;
  Graph &graph;
};

/// What starts before one event, the nearest first, with the way there.
class Ancestors {
public:
  /// One wait is as far as so many steps along a stream: ways of few waits, but not from the other
  /// end of the program.
  static constexpr uint64_t kWaitCost = 1024;

  Ancestors(const Events &events, const Epoch &epoch, const Order &order, EventId from)
      : events(events), epoch(epoch), order(order) {
    reach(from, kNone, 0);
  }

  /// Nothing that is not settled is nearer; UINT64_MAX when all is settled.
  uint64_t reachedCost() const { return queue.empty() ? UINT64_MAX : queue.top().first; }
  /// Settles the nearest one that is not. Precondition: there is one.
  EventId settle() {
    const auto [cost, id] = queue.top();
    queue.pop();
    if (id > epoch.begin[size_t(events.events[id].engine)])
      reach(id - 1, id, cost + 1);
    if (const EventId proven = order.provenBy(id); proven != kNone)
      reach(proven, id, cost + kWaitCost);
    while (!queue.empty() && found.at(queue.top().second).first != queue.top().first)
      queue.pop(); // reached on a shorter way since
    return id;
  }

  /// By event: cost, and the next event on the way.
  std::map<EventId, std::pair<uint64_t, EventId>> found;

private:
  using Entry = std::pair<uint64_t, EventId>;

  void reach(EventId id, EventId successor, uint64_t cost) {
    auto [it, isNew] = found.try_emplace(id, cost, successor);
    if (!isNew && it->second.first <= cost)
      return;
    it->second = {cost, successor};
    queue.push({cost, id});
  }

  const Events &events;
  const Epoch &epoch;
  const Order &order;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
};

/// The event before both that is nearest to the two together; kNone when there is none, or none
/// that is near.
EventId nearestCommon(Ancestors &a, Ancestors &b) {
  constexpr unsigned kMaxSettled = 1 << 17;
  EventId nearest = kNone;
  uint64_t best = UINT64_MAX;
  for (unsigned i = 0; i < kMaxSettled; ++i) {
    Ancestors &next = a.reachedCost() <= b.reachedCost() ? a : b;
    Ancestors &other = &next == &a ? b : a;
    if (next.reachedCost() >= best) // also when both are through
      break;
    const uint64_t cost = next.reachedCost();
    const EventId id = next.settle();
    const auto there = other.found.find(id);
    if (there != other.found.end() && cost + there->second.first < best) {
      best = cost + there->second.first;
      nearest = id;
    }
  }
  return nearest;
}

} // namespace

/// Adds the way from `ancestor` on; stretches along a stream become one edge.
static void addWay(const Events &events, const Ancestors &ancestors, EventId ancestor,
                   GraphBuilder &builder) {
  EventId from = ancestor;
  for (EventId at = ancestor;;) {
    const EventId next = ancestors.found.at(at).second;
    if (next == kNone)
      return;
    const bool isProgram = next == at + 1 &&
                           events.events[next].engine == events.events[at].engine &&
                           ancestors.found.at(at).first - ancestors.found.at(next).first == 1;
    if (!isProgram) {
      const Event &event = events.events[next];
      builder.edge(GraphEdge::Kind::Semaphore, at, next,
                   text("semaphore ", event.sync.waitSemaphore, " >= ", event.sync.waitValue));
      at = from = next;
      continue;
    }
    at = next;
    const auto &[cost, after] = ancestors.found.at(at);
    const bool goesOn =
        after != kNone && after == at + 1 && cost - ancestors.found.at(after).first == 1;
    if (goesOn)
      continue;
    builder.edge(GraphEdge::Kind::Program, from, at, {});
    from = at;
  }
}

Graph proof::witnessGraph(const Events &events, const Epoch &epoch, const Order &order,
                          EventId earlier, EventId later, const std::string &missing) {
  Graph graph;
  GraphBuilder builder(events, graph);
  builder.node(earlier);
  builder.node(later);
  Ancestors ofEarlier(events, epoch, order, earlier), ofLater(events, epoch, order, later);
  const EventId nearest = nearestCommon(ofEarlier, ofLater);
  if (nearest != kNone) {
    addWay(events, ofEarlier, nearest, builder);
    addWay(events, ofLater, nearest, builder);
  }
  builder.edge(GraphEdge::Kind::Missing, earlier, later, missing);
  return graph;
}

void proof::addWaitsFor(const Events &events, EventId waiting, EventId raiser, EventId blocked,
                        Graph &graph) {
  GraphBuilder builder(events, graph);
  builder.edge(GraphEdge::Kind::WaitsFor, waiting, raiser,
               text("semaphore ", events.events[waiting].sync.waitSemaphore,
                    " >= ", events.events[waiting].sync.waitValue));
  if (raiser != blocked && raiser != waiting)
    builder.edge(GraphEdge::Kind::WaitsFor, raiser, blocked, "behind it in the stream");
}
