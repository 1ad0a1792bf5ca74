// One scenario in ns-3, told as one line of JSON: the second engine of `wattlock link --engine ns3`, and what
// benchmarks/air.py holds `wattlock-net air` against.
//
// For the wheel `ns3` (3.44): compiled by its cling in a process of its own, or with AS_PROGRAM by a compiler against its
// headers. Its traps: packets wait in MAC queues for 500 ms only unless told otherwise; addresses are resolved when
// stations associate; TCP sends small segments where its application writes small pieces; preambles below -82 dBm are
// not detected unless that model is off. All nodes stand in one place, so that slots are slots.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/energy-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace weighing
{
using namespace ns3;

const double START_S = 1.0; // stations have associated by then
uint64_t g_attempts = 0, g_failures = 0, g_received = 0, g_wanted = 0;
double g_last_s = START_S;
std::vector<std::map<WifiPhyState, double>> g_states_s;

bool
Started()
{
    return Simulator::Now().GetSeconds() >= START_S;
}

void
Sent(WifiConstPsduMap psdus, WifiTxVector, double)
{
    for (const auto& [station, psdu] : psdus)
    {
        g_attempts += Started() && psdu->GetHeader(0).IsData();
    }
}

void
Failed(Mac48Address)
{
    g_failures += Started();
}

void
Received(uint64_t amount)
{
    if (!Started())
    {
        return;
    }
    g_received += amount;
    g_last_s = Simulator::Now().GetSeconds();
    if (g_wanted && g_received >= g_wanted)
    {
        Simulator::Stop();
    }
}

void
ReceivedDatagram(Ptr<const Packet>, const Address&)
{
    Received(1);
}

void
ReceivedBytes(Ptr<const Packet> packet, const Address&)
{
    Received(packet->GetSize());
}

void
StateWas(uint32_t node, Time start, Time duration, WifiPhyState state)
{
    const double from_s = std::max(start.GetSeconds(), START_S);
    g_states_s[node][state] += std::max(0.0, (start + duration).GetSeconds() - from_s);
}

double
Spent(const energy::DeviceEnergyModelContainer& radios, uint32_t node)
{
    return radios.GetN() ? radios.Get(node)->GetTotalEnergyConsumption() : 0.0;
}

/// The scenario that `words` name, as `--key=value` behind a name for the program.
std::string
Transfer(std::vector<std::string> words)
{
    Config::Reset();
    g_attempts = g_failures = g_received = g_wanted = 0;
    g_last_s = START_S;
    std::string topology = "adhoc", phy = "g", mode, control, transport = "udp";
    std::string band = "5", rate_control = "fixed";
    uint32_t stations = 1, packet_B = 1500, ampdu_B = 0, seed = 1, window_B = 131072, width_MHz = 20;
    uint64_t datagrams = 0;
    double duration_s = 10, interval_us = 200, rss_dBm = -40;
    double limit_s = 10000;
    double tx_W = 0, rx_W = 0, cca_W = 0, idle_W = 0;
    int gi_ns = 800;
    bool rts = false, short_preamble = false;
    CommandLine line;
    line.AddValue("topology", "adhoc, to-ap, bss", topology);
    line.AddValue("phy", "b, g, a, n, ac, ax", phy);
    line.AddValue("mode", "WifiMode of data", mode);
    line.AddValue("control", "WifiMode of control frames", control);
    line.AddValue("rate_control", "fixed at the mode, or minstrel (b, g, a)", rate_control);
    line.AddValue("transport", "udp, tcp", transport);
    line.AddValue("stations", "senders", stations);
    line.AddValue("packet_B", "IP packet", packet_B);
    line.AddValue("ampdu_B", "largest A-MPDU", ampdu_B);
    line.AddValue("datagrams", "datagrams of a sender; 0 sends for the duration", datagrams);
    line.AddValue("duration_s", "how long", duration_s);
    line.AddValue("interval_us", "how far apart datagrams are offered", interval_us);
    line.AddValue("gi_ns", "guard interval of HE", gi_ns);
    line.AddValue("rts", "RTS and CTS", rts);
    line.AddValue("seed", "seed", seed);
    line.AddValue("band", "2.4, 5, 6 of n, ac, ax", band);
    line.AddValue("width_MHz", "channel of n, ac, ax", width_MHz);
    line.AddValue("window_B", "window of TCP", window_B);
    line.AddValue("rss_dBm", "power with which everybody hears everybody", rss_dBm);
    line.AddValue("limit_s", "when datagrams that don't come are given up", limit_s);
    line.AddValue("tx_W", "power of sending; with it joules are told", tx_W);
    line.AddValue("rx_W", "power of receiving", rx_W);
    line.AddValue("cca_W", "power of hearing what is no frame", cca_W);
    line.AddValue("idle_W", "power of listening", idle_W);
    line.AddValue("short_preamble", "short preambles of DSSS", short_preamble);
    line.Parse(words);

    RngSeedManager::SetSeed(seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10000)));
    // A file must not be lost before it is sent; whoever sends for a duration may lose what it can't send.
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(datagrams ? "1000000p" : "500p"));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
    if (rts)
    {
        Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0));
    }
    const bool relayed = topology == "bss", ht = phy[0] == 'n' || phy.size() == 2;
    const uint32_t count = stations + 1 + relayed;
    NodeContainer nodes(count);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(rss_dBm));
    YansWifiPhyHelper radio;
    radio.SetChannel(channel.Create());
    // Off only where it would be a cliff of its own: with it two frames that collide disturb each other otherwise.
    if (rss_dBm < -80)
    {
        radio.DisablePreambleDetectionModel();
    }
    radio.Set("ShortPlcpPreambleSupported", BooleanValue(short_preamble));
    WifiHelper wifi;
    const std::map<std::string, WifiStandard> standards{{"b", WIFI_STANDARD_80211b},
                                                        {"g", WIFI_STANDARD_80211g},
                                                        {"a", WIFI_STANDARD_80211a},
                                                        {"n", WIFI_STANDARD_80211n},
                                                        {"ac", WIFI_STANDARD_80211ac},
                                                        {"ax", WIFI_STANDARD_80211ax}};
    wifi.SetStandard(standards.at(phy));
    if (ht)
    {
        const std::string bands = band == "2.4" ? "BAND_2_4GHZ" : band == "6" ? "BAND_6GHZ" : "BAND_5GHZ";
        radio.Set("ChannelSettings", StringValue("{0, " + std::to_string(width_MHz) + ", " + bands + ", 0}"));
    }
    if (rate_control == "minstrel")
    {
        // Rates are sought by what is lost: by the model that ours has, not by ns-3's tables, which lose less.
        radio.SetErrorRateModel("ns3::NistErrorRateModel");
        wifi.SetRemoteStationManager("ns3::MinstrelWifiManager");
    }
    else
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(mode),
                                     "ControlMode",
                                     StringValue(control));
    }
    if (phy == "ax")
    {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(gi_ns)));
    }
    WifiMacHelper mac;
    NetDeviceContainer devices;
    const UintegerValue ampdu(ampdu_B);
    if (topology == "adhoc")
    {
        mac.SetType("ns3::AdhocWifiMac", "BE_MaxAmpduSize", ampdu);
        devices = wifi.Install(radio, mac, nodes);
    }
    else
    {
        const SsidValue ssid(Ssid("weighing"));
        mac.SetType("ns3::ApWifiMac", "Ssid", ssid, "BE_MaxAmpduSize", ampdu);
        devices = wifi.Install(radio, mac, nodes.Get(0));
        mac.SetType("ns3::StaWifiMac", "Ssid", ssid, "BE_MaxAmpduSize", ampdu);
        for (uint32_t i = 1; i < count; i++)
        {
            devices.Add(wifi.Install(radio, mac, nodes.Get(i)));
        }
    }
    WifiHelper::AssignStreams(devices, 0);
    MobilityHelper places;
    places.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    places.Install(nodes);

    const uint32_t sink = relayed ? count - 1 : 0;
    if (transport == "tcp")
    {
        const uint32_t segment_B = packet_B - 52; // IP 20, TCP 20, timestamps 12
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment_B));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window_B));
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        const auto interfaces = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        NeighborCacheHelper().PopulateNeighborCache();
        for (uint32_t i = 1; i <= stations; i++)
        {
            const InetSocketAddress to(interfaces.GetAddress(sink), 5000 + i);
            auto server = PacketSinkHelper("ns3::TcpSocketFactory", to).Install(nodes.Get(sink));
            server.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&ReceivedBytes));
            BulkSendHelper sender("ns3::TcpSocketFactory", to);
            sender.SetAttribute("SendSize", UintegerValue(20 * segment_B));
            sender.SetAttribute("MaxBytes", UintegerValue(datagrams * segment_B));
            sender.Install(nodes.Get(i)).Start(Seconds(START_S));
        }
        g_wanted = datagrams * segment_B * stations;
    }
    else
    {
        PacketSocketHelper().Install(nodes);
        for (uint32_t i = 1; i <= stations; i++)
        {
            PacketSocketAddress to;
            to.SetSingleDevice(devices.Get(i)->GetIfIndex());
            to.SetPhysicalAddress(devices.Get(sink)->GetAddress());
            to.SetProtocol(1);
            auto sender = CreateObject<PacketSocketClient>();
            sender->SetAttribute("PacketSize", UintegerValue(packet_B));
            sender->SetAttribute("MaxPackets", UintegerValue(datagrams));
            sender->SetAttribute("Interval", TimeValue(MicroSeconds(interval_us)));
            sender->SetRemote(to);
            sender->SetStartTime(Seconds(datagrams ? START_S : START_S - 0.1));
            nodes.Get(i)->AddApplication(sender);
        }
        PacketSocketAddress at;
        at.SetSingleDevice(devices.Get(sink)->GetIfIndex());
        at.SetProtocol(1);
        auto server = CreateObject<PacketSocketServer>();
        server->SetLocal(at);
        server->TraceConnectWithoutContext("Rx", MakeCallback(&ReceivedDatagram));
        nodes.Get(sink)->AddApplication(server);
        g_wanted = datagrams * stations;
    }
    g_states_s.assign(count, {});
    for (uint32_t i = 0; i < count; i++)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        // Ad hoc only: through an access point ns-3's stations settle for long ones.
        device->GetRemoteStationManager()->SetShortPreambleEnabled(short_preamble);
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Sent));
        device->GetPhy()->GetState()->TraceConnectWithoutContext("State", MakeBoundCallback(&StateWas, i));
        device->GetRemoteStationManager()->TraceConnectWithoutContext("MacTxDataFailed", MakeCallback(&Failed));
    }
    energy::DeviceEnergyModelContainer radios;
    if (tx_W > 0)
    {
        BasicEnergySourceHelper battery; // of one volt, so that watts are amperes, and never empty
        battery.Set("BasicEnergySourceInitialEnergyJ", DoubleValue(1e6));
        battery.Set("BasicEnergySupplyVoltageV", DoubleValue(1));
        WifiRadioEnergyModelHelper spending;
        spending.Set("TxCurrentA", DoubleValue(tx_W));
        spending.Set("RxCurrentA", DoubleValue(rx_W));
        spending.Set("CcaBusyCurrentA", DoubleValue(cca_W));
        spending.Set("IdleCurrentA", DoubleValue(idle_W));
        radios = spending.Install(devices, battery.Install(nodes));
    }
    std::vector<double> before_J(count, 0.0);
    Simulator::Schedule(Seconds(START_S), [&] {
        for (uint32_t i = 0; i < count; i++)
        {
            before_J[i] = Spent(radios, i);
        }
    });
    Simulator::Stop(Seconds(START_S + (datagrams ? limit_s : duration_s)));
    const auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const double elapsed_s = datagrams ? g_last_s - START_S : duration_s;
    const double packets = transport == "tcp" ? double(g_received) / (packet_B - 52) : double(g_received);
    std::ostringstream told;
    told.precision(12);
    told << "{\"duration_s\":" << elapsed_s << ",\"packets_per_s\":" << (elapsed_s > 0 ? packets / elapsed_s : 0.0) << ",\"delivered\":" << packets
         << ",\"attempts\":" << g_attempts << ",\"failures\":" << g_failures << ",\"wall_s\":" << took.count()
         << ",\"nodes\":[";
    for (uint32_t i = 0; i < count; i++)
    {
        auto& states = g_states_s[i];
        const double tx = states[WifiPhyState::TX], rx = states[WifiPhyState::RX], cca = states[WifiPhyState::CCA_BUSY];
        // A state is told when it ends: what is not told yet is idle.
        told << (i ? "," : "") << "{\"tx_s\":" << tx << ",\"rx_s\":" << rx << ",\"cca_s\":" << cca
             << ",\"idle_s\":" << elapsed_s - tx - rx - cca
             << ",\"J\":" << Spent(radios, i) - before_J[i] << "}";
    }
    told << "]}";
    Simulator::Destroy();
    return told.str();
}
} // namespace weighing

#ifdef AS_PROGRAM
int
main(int argc, char** argv)
{
    std::cout << weighing::Transfer(std::vector<std::string>(argv, argv + argc)) << std::endl;
}
#endif
